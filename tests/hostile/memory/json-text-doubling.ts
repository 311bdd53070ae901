// kind: memory|runtime
let text = '"x"';
for (;;) text = JSON.stringify(text + text);
