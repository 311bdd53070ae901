// kind: memory
let buffer = new ArrayBuffer(1);
for (;;) buffer = buffer.transfer(buffer.byteLength * 2);
