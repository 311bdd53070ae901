// kind: ok
const trap = () => {
  throw new Error("from a trap");
};
const traps = { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap, getOwnPropertyDescriptor: trap };
console.log(new Proxy({}, traps), new Proxy(() => {}, traps));
