// kind: ok
// result: ["__proto__",1,{"leftover":1}]
enum E { "__proto__" = 0, constructor = 1 }
namespace N.__proto__ { export const leftover = 1; }
namespace Own { export const inner = { leftover: 1 }; }
export default ["__proto__", E.constructor, Own.inner];
