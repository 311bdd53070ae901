// kind: syntax
export default `never closed ${1
