// kind: ok
// result: []
const crashed: string[] = [];
const types = [URL, URLSearchParams, TextDecoder, TextEncoder, AbortController, AbortSignal, Event, EventTarget, CustomEvent, DOMException];
for (const type of types) {
  for (const receiver of [undefined, null, {}, Object.create(type.prototype), new Proxy({}, {}), 1]) {
    for (const key of Reflect.ownKeys(type.prototype)) {
      const descriptor = Reflect.getOwnPropertyDescriptor(type.prototype, key)!;
      for (const part of [descriptor.value, descriptor.get, descriptor.set]) {
        if (typeof part !== "function" || part === type) continue;
        try {
          Reflect.apply(part, receiver, [{}, 1, "x"]);
        } catch (error) {
          if (!(error instanceof Error)) crashed.push(type.name + "." + String(key));
        }
      }
    }
  }
}
export default crashed;
