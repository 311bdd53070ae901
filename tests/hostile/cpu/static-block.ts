// kind: cpu
class Eager {
  static {
    for (;;);
  }
}
