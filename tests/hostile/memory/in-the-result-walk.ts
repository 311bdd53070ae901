// kind: memory
const all: unknown[] = [];
export default {
  get grows() {
    for (;;) all.push({ all });
  },
};
