// kind: runtime
const target = new EventTarget();
target.addEventListener("x", () => {
  throw new Error("from a listener");
});
target.dispatchEvent(new Event("x"));
export default "done";
