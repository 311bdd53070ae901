// kind: ok
let nested: unknown = 1;
for (let i = 0; i < 100; i++) nested = [nested];
export default nested;
