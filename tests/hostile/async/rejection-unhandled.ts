// kind: runtime
Promise.reject(new Error("nobody listens"));
export default "done";
