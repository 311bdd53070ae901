// kind: output
let nested: unknown = 1;
for (let i = 0; i < 200_000; i++) nested = { nested };
export default nested;
