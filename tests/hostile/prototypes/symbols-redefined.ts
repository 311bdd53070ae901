// kind: runtime
Object.defineProperty(Symbol, "iterator", { value: "stolen" });
export default 1;
