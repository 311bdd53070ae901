// kind: runtime
const event = new Event("x");
const target = new EventTarget();
for (const holder of [event, target, new AbortController(), AbortSignal.abort(), AbortSignal, Event.prototype, EventTarget.prototype, AbortSignal.prototype]) {
  for (const symbol of Object.getOwnPropertySymbols(holder)) {
    try {
      const value = (holder as never as Record<symbol, unknown>)[symbol];
      if (typeof value === "function") Reflect.apply(value, holder, [{}, {}, () => {}]);
      (holder as never as Record<symbol, unknown>)[symbol] = { listeners: 1, mode: null, path: 7 };
    } catch {
      // the next one
    }
  }
}
target.addEventListener("x", () => {});
target.dispatchEvent(event);
console.log(event, target);
