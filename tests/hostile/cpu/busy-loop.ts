// kind: cpu
while (true) {}
