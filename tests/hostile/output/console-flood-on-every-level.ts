// kind: output
const levels = ["debug", "log", "info", "warn", "error", "trace"] as const;
for (let i = 0;; i++) console[levels[i % levels.length]]("x".repeat(100));
