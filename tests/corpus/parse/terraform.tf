resource "aws_x" "main" {  #? key main
  a = var.foo  #? read foo on var
}
variable "foo" {}  #? variable foo
locals { x = 1 }  #? key locals; key locals.x
