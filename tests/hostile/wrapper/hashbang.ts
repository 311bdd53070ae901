// kind: ok
// result: 1
// body-only
#!/usr/bin/env -S rm -rf
export default 1;
