// kind: ok
class Odd<T> extends Promise<T> {
  override then(...rest: Parameters<Promise<T>["then"]>): never {
    return super.then(...rest) as never;
  }
  static override get [Symbol.species]() {
    return Promise;
  }
}
export default { odd: Odd.resolve([Odd.resolve(1)]) };
