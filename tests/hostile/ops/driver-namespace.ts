// kind: runtime
__pml.run("ext:core/ops");
