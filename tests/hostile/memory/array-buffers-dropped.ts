// kind: ok
// result: 400
let made = 0;
for (; made < 400; made++) new Uint8Array(1e6)[0] = 1;
made;
