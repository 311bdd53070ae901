// kind: ok
// result: {}
const chain = () => ({ toJSON: chain });
export default chain();
