// kind: ok
export default (function* () {
  for (;;) yield 1;
})();
