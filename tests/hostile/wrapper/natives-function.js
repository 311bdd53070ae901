// kind: syntax
export default %GetUndetectable();
