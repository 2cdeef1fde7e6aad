{ pkgs, lib }: let foo = x: x; in { bar = foo 1; imports = [ ./a.nix ]; }  #? function foo; key bar; key imports; import ./a.nix; read foo
