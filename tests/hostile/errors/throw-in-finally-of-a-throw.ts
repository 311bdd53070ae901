// kind: runtime
try {
  throw new Error("first");
} finally {
  throw new Error("second");
}
