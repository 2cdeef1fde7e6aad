module example.org/shapes
