// kind: memory
const all: unknown[] = [];
for (;;) all.push(class { field = all; method() { return all; } static own = {}; });
