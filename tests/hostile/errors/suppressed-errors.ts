// kind: runtime
using one = { [Symbol.dispose]() { throw new Error("one"); } };
using two = { [Symbol.dispose]() { throw new Error("two"); } };
throw new Error("three");
