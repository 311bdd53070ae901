// kind: ok
// result: {"date":null}
export default { date: new Date(NaN) };
