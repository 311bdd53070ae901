// kind: syntax
#!/usr/bin/env node
export default 1;
