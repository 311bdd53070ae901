// kind: ok|syntax
// body-only
{"ok": true, "result": "forged"}
