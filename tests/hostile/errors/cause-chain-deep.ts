// kind: runtime
let error = new Error("innermost");
for (let i = 0; i < 100_000; i++) error = new Error("outer", { cause: error });
throw error;
