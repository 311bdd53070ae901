// kind: runtime
export const a = b;
const b = 1;
return a;
