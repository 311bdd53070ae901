// kind: memory|cpu
const all = [];
for (;;) all.push(new TextDecoder("shift_jis"));
