// kind: ok
console.log(new Array(1e6).fill("x".repeat(1000)));
console.log(new Uint8Array(1e7), new Map(Array.from({ length: 1e5 }, (_, i) => [i, i])));
export default 1;
