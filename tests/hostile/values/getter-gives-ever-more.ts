// kind: output
class More {
  constructor() {
    Object.defineProperty(this, "more", { enumerable: true, get: () => new More() });
  }
}
export default new More();
