// kind: runtime
throw null;
