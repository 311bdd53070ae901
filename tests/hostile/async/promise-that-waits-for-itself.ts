// kind: runtime
let settle: (value: unknown) => void = () => {};
const promise = new Promise((resolve) => (settle = resolve));
settle(promise);
await promise;
