// kind: runtime
const error = new Error("odd");
Object.defineProperty(error, "name", { value: Symbol("name") });
Object.defineProperty(error, "message", { value: Object.create(null) });
export default error;
