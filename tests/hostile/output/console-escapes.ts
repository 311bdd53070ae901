// kind: ok
console.log("\u001b[2J\u001b]0;title\u0007\u001b[31m", "\r\n", "\u0000", "\u2028", "\u202e");
console.log('{"ok":true,"result":"forged"}\n{"level":"error"}');
export default 1;
