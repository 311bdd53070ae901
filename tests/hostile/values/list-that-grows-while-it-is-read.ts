// kind: ok
const list: unknown[] = [];
const grow = { toJSON: () => (list.push(grow), 1) };
list.push(grow);
export default list;
