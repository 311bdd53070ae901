// kind: cpu
const error = new Error("slow to describe");
Object.defineProperty(error, "name", {
  get() {
    for (;;);
  },
});
Object.defineProperty(error, "message", {
  get() {
    for (;;);
  },
});
throw error;
