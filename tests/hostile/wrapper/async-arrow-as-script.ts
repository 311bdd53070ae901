// kind: ok
// result: 1
async () => { return 1; }
