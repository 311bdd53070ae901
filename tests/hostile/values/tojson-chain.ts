// kind: output
const chain = () => ({ toJSON: () => chain() });
export default chain();
