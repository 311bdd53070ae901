// kind: ok
// result: "function run() {}"
"function run() {}";
