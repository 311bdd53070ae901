// kind: ok
// result: null
export default Symbol("alone");
