// kind: denied
export { default } from "/etc/passwd";
