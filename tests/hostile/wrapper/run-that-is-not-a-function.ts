// kind: ok
// result: 1
const run = 1, main = 2;
export default run;
