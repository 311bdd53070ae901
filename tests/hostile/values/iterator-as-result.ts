// kind: output
export default (function* () {
  for (;;) yield 1;
})();
