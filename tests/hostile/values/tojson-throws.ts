// kind: runtime
export default {
  toJSON() {
    throw new Error("no JSON");
  },
};
