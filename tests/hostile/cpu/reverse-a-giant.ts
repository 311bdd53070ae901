// kind: cpu
Array.prototype.reverse.call(new Proxy({ length: Number.MAX_SAFE_INTEGER }, {}));
