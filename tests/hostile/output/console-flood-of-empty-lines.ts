// kind: output
for (;;) console.log();
