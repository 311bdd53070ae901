// kind: ok
class Pretender {}
Function.prototype.toString = () => "function () {}";
Object.defineProperty(Pretender, "toString", { value: () => "function () {}" });
export default Pretender;
