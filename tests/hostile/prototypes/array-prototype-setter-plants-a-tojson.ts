// kind: ok|runtime
// A message larger than the broker accepts, made after the serializer has counted the characters.
Object.defineProperty(Array.prototype, 0, {
  set(value) {
    if (value?.holder) value.holder.toJSON = () => "x".repeat(20_000_000);
  },
});
export default { later: Promise.resolve(1) };
