// kind: syntax
export default "never closed
