// kind: ok
// result: null
/* nothing */ // at all
