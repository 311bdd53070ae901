// kind: memory|cpu
throw new AggregateError((function* () {
  for (;;) yield new Error("more");
})());
