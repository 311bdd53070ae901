// kind: runtime
console.log("%d %i %f %j %o %O %c %%", Symbol("d"), 1n, {}, { a: 1 }, [1], "css", "color: red", "%");
console.log("%s", { toString() { throw new Error("no"); } });
console.log("%c%c%c", "background: url(javascript:1)");
export default 1;
