// kind: runtime
function outer() {
  return outer.caller ?? arguments.callee.caller;
}
outer();
