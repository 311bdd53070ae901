// kind: runtime
// one throw new Error("after a separator");
