// kind: ok
const map = new Map<string, unknown>();
let n = 0;
const grow = { toJSON: () => (map.set("more " + n++, grow), 1) };
map.set("first", grow);
export default map;
