-- doc
local M = {}  --? variable M private local
function M.foo(a) return a.b:c() end  --? function M.foo; read M; read b on a; call c
local function bar() end  --? function bar private local
function M:baz() end  --? method M.baz; read M
M.q = function() end  --? function M.q; read M
x = require("y.z")  --? variable x; import y.z as x
return M  --? read M
