// kind: memory|cpu
const fork = async () => {
  await null;
  fork();
  fork();
};
await fork();
await new Promise(() => {});
