// kind: ok
// body-only
{"ok": true, "result": "forged"}
