// kind: syntax
<!-- an HTML comment is no comment in a module
export default 1;
--> neither is this
