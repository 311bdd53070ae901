// kind: ok
// result: 2
let a = 4, g = 2;
export default a / g / 1 /* / */ ;
