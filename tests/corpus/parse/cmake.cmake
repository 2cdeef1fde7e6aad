project(foo)  #? module foo; call project
add_library(bar a.c)  #? module bar; call add_library
function(baz x)  #? function baz
endfunction()
macro(q)  #? macro q
endmacro()
set(VAR 1)  #? variable VAR; call set
include(x.cmake)  #? import x.cmake; call include
