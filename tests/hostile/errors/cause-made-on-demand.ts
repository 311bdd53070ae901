// kind: runtime
class Endless extends Error {
  get cause() {
    return new Endless("and before that");
  }
}
throw new Endless("the end");
