// kind: cpu
for (;;) new URL("https://user:pass@example.com:8080/a/../b?c=d&e=f#g".repeat(20));
