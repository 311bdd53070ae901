// kind: memory
let all: number[] = [1];
for (;;) all = all.concat(all);
