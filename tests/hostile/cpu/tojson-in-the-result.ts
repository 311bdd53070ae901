// kind: cpu
export default {
  toJSON() {
    for (;;);
  },
};
