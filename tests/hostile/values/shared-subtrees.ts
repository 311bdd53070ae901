// kind: output|memory
let node: unknown = 1;
for (let i = 0; i < 40; i++) node = { a: node, b: node };
export default node;
