// kind: runtime
const target = new EventTarget();
target.addEventListener("x", () => target.dispatchEvent(new Event("x")));
target.dispatchEvent(new Event("x"));
export default "done";
