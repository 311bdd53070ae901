// kind: runtime
throw () => {};
