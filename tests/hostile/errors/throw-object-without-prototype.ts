// kind: runtime
throw Object.create(null);
