// kind: runtime
setTimeout(() => {
  throw new Error("from a timer");
}, 0);
await new Promise((resolve) => setTimeout(resolve, 50));
export default "done";
