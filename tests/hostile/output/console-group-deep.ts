// kind: ok
for (let i = 0; i < 20_000; i++) console.group();
for (let i = 0; i < 100; i++) console.log("far to the right");
export default 1;
