// kind: output
const next = (): unknown => Promise.resolve({ get more() { return next(); } });
export default next();
