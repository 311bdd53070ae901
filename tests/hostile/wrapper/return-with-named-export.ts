// kind: syntax|ok|runtime
export const a = b;
const b = 1;
return a;
