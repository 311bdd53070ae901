// kind: syntax
@((target: unknown) => target)
class A {}
export default new A();
