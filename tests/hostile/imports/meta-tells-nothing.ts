// kind: ok
// result: "file:///hostile.ts"
const known = Object.keys(import.meta).filter((key) => !["url", "main", "resolve", "filename", "dirname"].includes(key));
export default known.length ? known : import.meta.url;
