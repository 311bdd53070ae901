// kind: runtime
const text = `
//# sourceMappingURL=data:application/json;base64,e30=
//# sourceURL=ext:core/mod.js
`;
throw new Error("mapped" + text.length);
