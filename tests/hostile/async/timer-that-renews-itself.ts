// kind: timeout
const again = () => setTimeout(again, 1);
again();
await new Promise(() => {});
