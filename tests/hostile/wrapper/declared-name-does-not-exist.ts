// kind: runtime
declare const secret: string;
export default secret;
