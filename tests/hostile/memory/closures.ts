// kind: memory
const all: (() => unknown)[] = [];
for (let i = 0;; i++) {
  const previous = all.at(-1);
  all.push(() => [i, previous]);
}
