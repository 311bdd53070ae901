// kind: runtime
Date.prototype.toISOString = () => {
  throw new Error("no date");
};
export default { date: new Date(0) };
