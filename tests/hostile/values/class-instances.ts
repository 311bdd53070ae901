// kind: ok
class Secret {
  #hidden = 1;
  shown = 2;
  static own = 3;
  get computed() {
    return this.#hidden;
  }
}
export default [new Secret(), Secret, new (class extends Array { extra = 1; })(), new (class extends Map {})()];
