// kind: memory
let text = "x";
for (;;) text = text.replaceAll("x", "$&$&$&$&");
