"""An MCP server over HTTP with sessions, as many are: it forgets them and says so with 400.

Prints its port. Tools: `echo`, `forget` (every session, as a restart would), `cut` (an event with
half a character), `busy` (429 twice, then an answer). Standard library only.
"""

import json
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sessions = set()
refused = [0]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(405, b"", "text/plain")

    def do_DELETE(self):
        sessions.discard(self.headers.get("mcp-session-id"))
        self.reply(200, b"", "text/plain")

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, session = message["method"], self.headers.get("mcp-session-id")
        if method == "server/discover":
            # What an Express server answers when its handler throws.
            return self.reply(500, b"<pre>TypeError</pre>", "text/html")
        if method == "initialize":
            session = uuid.uuid4().hex
            sessions.add(session)
            result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "sessions", "version": "1"}}
            return self.answer(message, result, ("mcp-session-id", session))
        if session not in sessions:
            error = {"code": -32000, "message": "Bad Request: No valid session ID provided"}
            body = {"jsonrpc": "2.0", "error": error, "id": None}
            return self.reply(400, json.dumps(body).encode(), "application/json")
        if "id" not in message:
            return self.reply(202, b"", "text/plain")
        if method == "tools/list":
            names = ["echo", "forget", "cut", "busy"]
            return self.answer(message, {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in names]})
        self.call(message)

    def call(self, message):
        name = message["params"]["name"]
        text = json.dumps(message["params"].get("arguments") or {})
        if name == "forget":
            sessions.clear()
        if name == "busy" and refused[0] < 2:
            refused[0] += 1
            return self.reply(429, b"", "text/plain", ("retry-after", "0"))
        if name == "cut":
            result = '{"content":[{"type":"text","text":"cut \\ud83d"}]}'
            event = 'data: {"jsonrpc":"2.0","id":%d,"result":%s}\n\n' % (message["id"], result)
            return self.reply(200, event.encode(), "text/event-stream")
        self.answer(message, {"content": [{"type": "text", "text": text}]})

    def answer(self, message, result, *headers):
        body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        self.reply(200, json.dumps(body).encode(), "application/json", *headers)

    def reply(self, status, body, kind, *headers):
        self.send_response(status)
        for name, value in [("content-type", kind), ("content-length", str(len(body))), *headers]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
