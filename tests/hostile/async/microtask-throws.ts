// kind: runtime
queueMicrotask(() => {
  throw new Error("from a microtask");
});
export default "done";
