// kind: ok
const shifty: Record<string, unknown> = {
  get a() {
    delete shifty.b;
    shifty.c = 1;
    return 1;
  },
  b: 2,
};
export default shifty;
