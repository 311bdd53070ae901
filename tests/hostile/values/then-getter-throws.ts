// kind: runtime
export default {
  get then() {
    throw new Error("no then");
  },
};
