// kind: cpu
const again = () => {
  Promise.resolve().then(again);
};
again();
export default "done";
