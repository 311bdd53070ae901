// kind: output|memory|cpu
console.dir(new Array(1e6).fill("x".repeat(100)), { iterableLimit: Infinity, strAbbreviateSize: Infinity });
