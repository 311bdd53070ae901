// kind: ok
// result: "done"
for (let i = 0; i < 1000; i++) setInterval(() => {}, 0);
export default "done";
