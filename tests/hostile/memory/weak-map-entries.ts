// kind: memory
const keys: object[] = [];
const map = new WeakMap();
for (;;) {
  const key = {};
  keys.push(key);
  map.set(key, new Array(10).fill(key));
}
