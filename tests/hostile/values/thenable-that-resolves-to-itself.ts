// kind: cpu
const thenable = {
  then(resolve: (value: unknown) => void) {
    resolve(thenable);
  },
};
export default thenable;
