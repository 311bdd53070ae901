// kind: memory|cpu|runtime
const down = async (): Promise<void> => {
  await null;
  return down();
};
await down();
