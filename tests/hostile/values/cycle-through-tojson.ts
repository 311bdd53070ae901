// kind: ok
const a = { toJSON: (): unknown => ({ a }) };
export default a;
