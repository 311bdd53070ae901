// kind: runtime
const error = new Error("x");
for (const key of [Symbol.for("errorCallSites"), Symbol.for("callSiteEvals"), "__callSiteEvals", "frames"]) {
  Object.defineProperty(error, key, { value: [{ lineNumber: 2 ** 31, fileName: "/etc/passwd", functionName: 7 }, null, 1] });
}
throw error;
