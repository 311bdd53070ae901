// kind: ok
// result: ["s",1]
String.prototype.valueOf = String.prototype.toString = () => "stolen";
Number.prototype.valueOf = Number.prototype.toString = () => 666 as never;
export default [Object("s"), Object(1)];
