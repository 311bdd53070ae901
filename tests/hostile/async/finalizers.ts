// kind: ok|cpu
const registry = new FinalizationRegistry(() => {
  for (;;);
});
for (let i = 0; i < 1e5; i++) registry.register({ i }, i);
export default "done";
