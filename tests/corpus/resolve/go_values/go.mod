module example.org/values

go 1.22
