// kind: syntax
export default 1;
return 2;
