// kind: memory|runtime
let text = "x";
for (;;) text = text.replaceAll("x", "$&$&$&$&");
