// kind: cpu|memory|timeout
const breed = () => {
  setTimeout(breed, 0);
  setTimeout(breed, 0);
};
breed();
await new Promise(() => {});
