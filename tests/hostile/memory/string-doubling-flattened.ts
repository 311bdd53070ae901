// kind: memory|runtime
let text = "x";
for (;;) {
  text += text;
  text.charCodeAt(text.length >> 1);
}
