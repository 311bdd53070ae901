"""An MCP server over HTTP that knows only the stateless protocol of 2026-07-28.

Prints its port. Tools: `echo`, `context` (what the request said about its client), `big` (too
much as one JSON body) and `big_stream` (too much as one event). Standard library only.
"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(405, b"", "text/plain")

    do_DELETE = do_GET

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/locked":
            return self.reply(401, b"", "text/plain", ("www-authenticate", 'Bearer scope="all"'))
        if "id" not in message:
            return self.reply(202, b"", "text/plain")
        meta = (message.get("params") or {}).get("_meta") or {}
        if meta.get(META + "protocolVersion") != VERSION:
            error = {"code": -32004, "message": "unsupported", "data": {"supported": [VERSION]}}
            return self.send(message, {"error": error}, 400)
        self.act(message, meta)

    def act(self, message, meta):
        method, params = message["method"], message.get("params") or {}
        complete = {"resultType": "complete"}
        if method == "server/discover":
            self.send(message, {"result": {
                **complete, "supportedVersions": [VERSION], "capabilities": {"tools": {}},
                "ttlMs": 0, "cacheScope": "private",
            }})
        elif method == "tools/list":
            names = ["echo", "context", "big", "big_stream"]
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
            self.send(message, {"result": {**complete, "tools": tools, "ttlMs": 0, "cacheScope": "private"}})
        elif method == "tools/call":
            name, arguments = params["name"], params.get("arguments") or {}
            text = json.dumps(arguments)
            if name == "context":
                text = json.dumps({"meta": meta, "session": self.headers.get("mcp-session-id"),
                                   "token": self.headers.get("authorization"),
                                   "version": self.headers.get("mcp-protocol-version")})
            elif name.startswith("big"):
                text = "x" * (20 * 1024 * 1024)
            result = {"result": {**complete, "content": [{"type": "text", "text": text}]}}
            self.send(message, result, stream=name == "big_stream")
        else:
            self.send(message, {"error": {"code": -32601, "message": "unknown method"}}, 404)

    def send(self, message, answer, status=200, stream=False):
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode()
        if stream:
            self.reply(status, b"data: " + body + b"\n\n", "text/event-stream")
        else:
            self.reply(status, body, "application/json")

    def reply(self, status, body, kind, *headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
