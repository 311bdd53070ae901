// kind: denied
export * from "./secret.ts";
