// kind: runtime
console.table(null);
console.table([[1], { a: Symbol() }, null, new Map([[1, 2]])], ["a", "__proto__"]);
console.table(new Proxy([], { get: (target, key) => Reflect.get(target, key) }));
console.table({ get a() { throw new Error("no"); } });
