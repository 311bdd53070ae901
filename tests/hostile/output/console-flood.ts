// kind: output
for (;;) console.log("flood");
