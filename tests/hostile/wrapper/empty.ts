// kind: ok
// result: null
// body-only
