// kind: output
const flood = () => {
  console.log("x".repeat(1000));
  setTimeout(flood, 0);
};
flood();
await new Promise(() => {});
