// kind: ok
// result: "late"
const failing = Promise.reject(new Error("late"));
await new Promise((resolve) => setTimeout(resolve, 10));
export default failing.catch((error) => error.message);
