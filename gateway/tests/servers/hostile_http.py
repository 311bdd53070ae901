"""An MCP server over HTTP whose bodies do not end. Prints its port. Standard library only.

The path says which response is 400 MB: /initialize, /call, /error or /events. At /whole the responses
end: the arguments `mib`, `zeros` and `events` say how large they are and what they are made of.
"""

import http.server
import json

PIECE = b"x" * 1_000_000
PIECES = 400


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def flood(self, status, kind, begin):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self.wfile.write(begin)
            for _ in range(PIECES):
                self.wfile.write(PIECE)
            self.wfile.write(b'"}]}}\n\n')
        except OSError:
            pass

    def do_GET(self):
        self.reply(405, "text/plain", b"")

    def do_DELETE(self):
        self.reply(200, "text/plain", b"")

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        id, method = message.get("id"), message.get("method")
        begin = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % (id or 0)
        if id is None:
            self.reply(202, "text/plain", b"")
        elif method == "server/discover":
            self.reply(400, "text/plain", b"no")
        elif method == "initialize":
            if self.path == "/initialize":
                return self.flood(200, "application/json", begin)
            self.answer(id, {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                             "serverInfo": {"name": "hostile", "version": "1"}})
        elif method == "tools/list":
            self.answer(id, {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]})
        elif method == "tools/call":
            if self.path == "/whole":
                self.whole(id, message["params"].get("arguments") or {})
            elif self.path == "/error":
                self.flood(500, "application/json", begin)
            elif self.path == "/events":
                self.flood(200, "text/event-stream", b"data: " + begin)
            else:
                self.flood(200, "application/json", begin)
        else:
            self.answer(id, {})

    def whole(self, id, args):
        length = int(args.get("mib", 0) * 1048576)
        if args.get("zeros"):
            result = '{"content":[],"structuredContent":{"z":[%s0]}}' % ("0," * (length // 2))
        else:
            result = '{"content":[{"type":"text","text":"%s"}]}' % ("x" * length)
        body = ('{"jsonrpc":"2.0","id":%d,"result":%s}' % (id, result)).encode()
        if args.get("events"):
            self.reply(200, "text/event-stream", b"data: " + body + b"\n\n")
        else:
            self.reply(200, "application/json", body)

    def answer(self, id, result):
        body = json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode()
        self.reply(200, "application/json", body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
