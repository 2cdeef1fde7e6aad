module example.org/shapes/v2  //? module example.org/shapes/v2

go 1.23

require (
	example.org/far v1.2.3  //? import example.org/far
)
require example.org/near v0.1.0 // indirect  //? import example.org/near
