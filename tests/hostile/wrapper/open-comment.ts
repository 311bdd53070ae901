// kind: syntax
export default 1; /* never closed
