// kind: ok
for (let i = 0; i < 1000; i++) console.groupEnd();
console.log("still here");
export default 1;
