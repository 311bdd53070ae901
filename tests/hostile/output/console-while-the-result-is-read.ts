// kind: output
export default {
  get a() {
    for (;;) console.log("from a getter");
  },
};
