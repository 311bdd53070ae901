// kind: memory
let text = "x";
for (;;) {
  text += text;
  text.charCodeAt(text.length >> 1);
}
