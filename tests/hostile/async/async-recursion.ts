// kind: memory|cpu
const down = async (): Promise<void> => {
  await null;
  return down();
};
await down();
