// kind: runtime|cpu|memory
const thenable = {
  then(resolve: (value: unknown) => void) {
    resolve(thenable);
  },
};
export default thenable;
