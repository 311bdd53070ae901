// kind: runtime
Promise.reject(new Error("no handler"));
export default "done";
