// kind: syntax
if (true) {
