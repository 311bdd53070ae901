// kind: runtime
Atomics.wait(new Int32Array(new ArrayBuffer(8)), 0, 0, 60_000);
