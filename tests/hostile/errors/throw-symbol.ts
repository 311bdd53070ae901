// kind: runtime
throw Symbol("thrown");
