// kind: cpu
const data = Array.from({ length: 1e5 }, (_, i) => ({ i, s: "x" + i }));
for (;;) JSON.parse(JSON.stringify(data));
