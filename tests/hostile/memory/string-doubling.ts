// kind: runtime
let text = "x";
for (;;) text += text;
