// kind: syntax
function f() { await 1; }
f();
