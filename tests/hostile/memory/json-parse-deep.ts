// kind: memory|cpu
const depth = 5e6;
JSON.parse("[".repeat(depth) + "]".repeat(depth)).length;
