// kind: runtime
throw new Error("renamed");
//# sourceURL=ext:core/mod.js
