// The promise of an answer. A script that forgets `await` reads properties of the promise, which are all
// undefined; here that is an error that names the fix.
//
// The prototype is changed instead of wrapping the promise: a wrapper would cost a microtask per call and
// the script's frames in stack traces.

import { primordials } from "ext:core/mod.js";

const {
  ObjectFreeze,
  ObjectSetPrototypeOf,
  Promise,
  PromisePrototype,
  Proxy,
  ReflectGet,
  ReflectHas,
  TypeError,
} = primordials;

// Stands before the prototype of promises. `instanceof` and the console see that prototype behind it.
const guard = new Proxy({ __proto__: null }, {
  __proto__: null,
  get(_target, key, receiver) {
    const isOfPromises = typeof key === "symbol" ||
      (key !== "toString" && ReflectHas(PromisePrototype, key));
    if (isOfPromises || receiver === toolPromisePrototype) {
      return ReflectGet(PromisePrototype, key, receiver);
    }
    throw new TypeError(forgotten(key));
  },
  getPrototypeOf() {
    return PromisePrototype;
  },
  has(_target, key) {
    return ReflectHas(PromisePrototype, key);
  },
  preventExtensions() {
    return false;
  },
});

function forgotten(key) {
  if (key === "toString" || key === "toJSON") {
    return "the answer of a tool is a promise, and it is used like a value: write `await` before the call";
  }
  return `\`${key}\` is read from a promise: write \`await\` before the call, as in \`(await call).${key}\``;
}

// `constructor` is found without the proxy, so that `await` takes the promise as it is.
const toolPromisePrototype = ObjectFreeze({ __proto__: guard, constructor: Promise });

// Makes the promise of an answer fail where it is used without `await`.
function toolPromise(promise) {
  return ObjectSetPrototypeOf(promise, toolPromisePrototype);
}

export { toolPromise };
