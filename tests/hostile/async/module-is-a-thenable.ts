// kind: cpu
export function then() {
  for (;;);
}
export default "done";
