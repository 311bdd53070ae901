// kind: memory|cpu
const all = [];
for (let i = 0;; i++) {
  const regex = new RegExp("(" + "a|b".repeat(2000) + i + "){1,50}");
  regex.test("ab".repeat(100));
  all.push(regex);
}
