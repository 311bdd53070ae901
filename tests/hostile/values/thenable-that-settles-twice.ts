// kind: ok
// result: 1
export default {
  then(resolve: (value: number) => void, reject: (reason: Error) => void) {
    resolve(1);
    resolve(2);
    reject(new Error("too late"));
    throw new Error("later still");
  },
};
