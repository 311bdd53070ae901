// kind: cpu
export default function () {
  for (;;);
}
