const std = @import("std");  //? import std as std
/// Doc
pub fn add(a: i32) i32 { return foo(a); }  //? function add doc="Doc"; call foo
const P = struct { x: i32, fn m(self: P) void {} };  //? struct P private; field P.x; method P.m private; read P
test "abc" { }  //? test abc test
var g: u8 = 1;  //? variable g private
