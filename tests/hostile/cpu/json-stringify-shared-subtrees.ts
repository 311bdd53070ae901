// kind: cpu|memory
let node: unknown = [1];
for (let i = 0; i < 60; i++) node = [node, node];
JSON.stringify(node, (_key, value) => value);
