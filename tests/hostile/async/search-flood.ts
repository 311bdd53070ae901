// kind: calls
for (;;) await searchTools("anything at all");
