// kind: cpu
console.dir({
  get a() {
    for (;;);
  },
}, { getters: true });
