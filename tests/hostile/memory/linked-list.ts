// kind: memory
let list: unknown = null;
for (;;) list = { next: list };
