// kind: ok
// result: [4,"a\u2028b"]
const a = 1; // a comment ends here const b = 3; // and here export default [a + b, "a b"];
