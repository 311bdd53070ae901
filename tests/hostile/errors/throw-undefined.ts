// kind: runtime
throw undefined;
