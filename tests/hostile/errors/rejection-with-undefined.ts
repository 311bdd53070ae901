// kind: runtime
Promise.reject();
export default 1;
