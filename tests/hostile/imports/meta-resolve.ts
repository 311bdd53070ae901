// kind: denied
export default import.meta.resolve("./secret.ts");
