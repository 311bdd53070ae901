// kind: runtime
throw "";
