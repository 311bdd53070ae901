// kind: cpu
+{
  valueOf() {
    for (;;);
  },
};
