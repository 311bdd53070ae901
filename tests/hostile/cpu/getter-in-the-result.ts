// kind: cpu
export default {
  get a() {
    for (;;);
  },
};
