"""An MCP server whose tools say what reached it: the `_meta` of the request and, over HTTP, its headers.

    context_server.py              over stdio
    context_server.py http         over HTTP; the first line of standard output is the port
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANY = {"type": "object"}


def call(name, params, headers):
    if name == "slow":
        time.sleep(params["arguments"]["seconds"])
    if name == "fails" or params.get("arguments", {}).get("fails"):
        return {"content": [{"type": "text", "text": "it fails"}], "isError": True}
    seen = {"meta": params.get("_meta", {}), "headers": headers}
    return {"content": [{"type": "text", "text": json.dumps(seen)}]}


def answer(message, headers):
    method, params = message["method"], message.get("params") or {}
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        reply["result"] = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "context", "version": "1"},
        }
    elif method == "ping":
        reply["result"] = {}
    elif method == "tools/list":
        names = ["context", "slow", "fails"]
        reply["result"] = {"tools": [{"name": name, "inputSchema": ANY} for name in names]}
    elif method == "tools/call":
        reply["result"] = call(params["name"], params, headers)
    else:
        reply["error"] = {"code": -32601, "message": "unknown method"}
    return reply


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(body)
        if "id" not in message:
            return self.respond(202, b"")
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.respond(200, json.dumps(answer(message, headers)).encode())

    def do_GET(self):
        self.respond(405, b"")

    def respond(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if sys.argv[1:] == ["http"]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        print(json.dumps(answer(message, {})), flush=True)
