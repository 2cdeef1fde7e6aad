project(foo)  #? module foo; call project
add_library(bar a.c)  #? module bar; call add_library
function(baz x)  #? function baz
endfunction()
macro(q)  #? macro q
endmacro()
set(VAR 1)  #? variable VAR; call set
include(x.cmake)  #? import x.cmake; call include
#[==[ not code: function(hidden) ]] endfunction()
set(HIDDEN 1)
]==]

# Adds a thing.
# With more words.
FUNCTION(Add_Thing name #[[ ) ]] kind)  #? function Add_Thing span=13-27 doc="Adds a thing. With more words."; no kind; no FUNCTION
  set(inside 1)  #? call set in Add_Thing
  message("function(no) \" endfunction()
    set(NO 1) ${name}")
  string(REGEX MATCH [=[ ]] endfunction() ]=] out "${name}")  #? call string in Add_Thing
  if(NOT (name OR (kind)))  #? no NOT; no if
    add_custom_target("${name}-docs" ALL)  #? module Add_Thing.${name}-docs
  endif()
  macro(deeper)  #? macro Add_Thing.deeper span=23-25 sig="macro(deeper)"
    Set(also 1)  #? call Set in Add_Thing.deeper
  endmacro(deeper)
  message(done \" \( )  #? call message in Add_Thing
EndFunction()
SET(
  LATER  #? variable LATER span=28-30
  1)
Option(WITH_IT "With ( it" ON)  #? variable WITH_IT; call Option
find_package(ZLIB 1.2 REQUIRED)  #? import ZLIB
add_subdirectory("src")  #? import src
add_executable(app::it ALIAS bar)  #? module app::it
