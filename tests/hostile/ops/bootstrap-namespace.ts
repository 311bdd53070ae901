// kind: runtime
__bootstrap.core;
