// kind: cpu
for (let i = 0;; i++) new Date(i).toLocaleString("de-CH", { dateStyle: "full", timeStyle: "full" });
