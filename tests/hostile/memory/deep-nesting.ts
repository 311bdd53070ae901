// kind: memory
let nested: unknown[] = [];
for (;;) nested = [nested];
