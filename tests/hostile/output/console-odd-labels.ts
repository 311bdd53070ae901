// kind: ok
console.count("__proto__");
console.time("constructor");
console.timeEnd("constructor");
console.timeLog({ toString: () => "object" } as never);
console.assert(false, { get message() { throw 1; } });
console.dir(console, { showHidden: true, depth: 20 });
