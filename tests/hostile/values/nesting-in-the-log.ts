// kind: ok
let nested: unknown = 1;
for (let i = 0; i < 200_000; i++) nested = { nested };
console.log(nested);
console.dir(nested, { depth: 50 });
export default 1;
