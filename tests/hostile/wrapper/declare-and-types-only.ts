// kind: ok
// result: null
declare const secret: string;
type A = typeof secret;
interface B { a: A }
