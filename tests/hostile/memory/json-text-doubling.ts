// kind: memory
let text = '"x"';
for (;;) text = JSON.stringify(text + text);
