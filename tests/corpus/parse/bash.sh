#!/bin/bash
# Doc
foo() {  #? function foo doc="Doc"
  local x=1
  bar "$x"  #? call bar
}
function baz { return 1; }  #? function baz
NAME=3  #? variable NAME
export PATHX=2  #? variable PATHX
source ./lib.sh  #? import ./lib.sh
. other.sh  #? import other.sh
alias ll="ls"
