// kind: ok
// result: {"__proto__":1,"constructor":2,"toString":3,"":4,"then":5}
export default JSON.parse('{"__proto__":1,"constructor":2,"toString":3,"":4,"then":5}');
