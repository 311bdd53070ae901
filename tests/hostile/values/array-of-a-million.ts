// kind: output
export default new Array(1e6).fill("row");
