// kind: runtime
export default {
  get a() {
    throw new TypeError("no");
  },
};
