// kind: ok
export default 1;
return 2;
