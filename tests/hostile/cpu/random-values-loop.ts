// kind: cpu
const bytes = new Uint8Array(65536);
for (;;) crypto.getRandomValues(bytes);
