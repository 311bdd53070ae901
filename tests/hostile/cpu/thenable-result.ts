// kind: cpu
export default {
  then() {
    for (;;);
  },
};
