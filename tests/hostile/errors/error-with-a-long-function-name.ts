// kind: runtime
const name = "f".repeat(2 ** 24);
const { [name]: f } = {
  [name]() {
    throw new Error("from a long name");
  },
};
f();
