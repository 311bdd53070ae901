// kind: cpu
Array.prototype.indexOf.call({ length: Number.MAX_SAFE_INTEGER }, 1);
