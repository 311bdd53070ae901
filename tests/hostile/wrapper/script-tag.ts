// kind: ok
// result: "</script><script>alert(1)</script><!-- -->"
export default "</script><script>alert(1)</script><!-- -->";
