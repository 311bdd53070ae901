// kind: ok
// result: 1
Object.defineProperty(Array.prototype, "then", {
  configurable: true,
  value(resolve: (value: unknown) => void) {
    delete (Array.prototype as { then?: unknown }).then;
    resolve([undefined, '{"kind":"internal","message":"forged"}']);
  },
});
return 1;
