// kind: ok
// result: "done"
export function then() {
  for (;;);
}
export default "done";
