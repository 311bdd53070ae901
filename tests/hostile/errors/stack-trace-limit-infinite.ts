// kind: runtime
Error.stackTraceLimit = Infinity;
const down = (n: number): number => (n === 0 ? (null as never) : down(n - 1) + 1);
try {
  down(1e9);
} catch (error) {
  throw new Error((error as Error).message, { cause: error });
}
