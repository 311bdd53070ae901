"""An MCP server with large things that are read in parts.

Usage: ranges.py BYTES. Tools:
  read   characters `offset` to `offset + length` of a made-up NDJSON file of BYTES bytes
  whole  the first `lines` lines of that file
  links  a text, and a link to a resource
  wait   waits until it is cancelled, and says so with the file ranges-cancelled
"""

import json
import os
import sys
import threading

size = int(sys.argv[1])
LINE = '{"n":%09d,"kind":"%03d"}\n'
WIDTH = len(LINE % (0, 0))
out_lock = threading.Lock()


def line(n):
    return LINE % (n, n % 7)


def part(offset, length):
    end = min(offset + length, size)
    if offset >= end:
        return ""
    first, last = offset // WIDTH, (end - 1) // WIDTH
    text = "".join(line(n) for n in range(first, last + 1))
    start = offset - first * WIDTH
    return text[start:start + end - offset]


def call(name, arguments):
    if name == "read":
        return [{"type": "text", "text": part(arguments["offset"], arguments["length"])}]
    if name == "whole":
        return [{"type": "text", "text": part(0, arguments["lines"] * WIDTH)}]
    if name == "links":
        return [{"type": "text", "text": "see"},
                {"type": "resource_link", "uri": "made:up", "name": "up"}]
    return None


def send(message):
    with out_lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def tool(name, required):
    fields = {field: {"type": "integer"} for field in required}
    return {"name": name, "description": "The tool " + name,
            "inputSchema": {"type": "object", "properties": fields, "required": required},
            "annotations": {"readOnlyHint": True, "destructiveHint": False}}


TOOLS = [tool("read", ["offset", "length"]), tool("whole", ["lines"]), tool("links", []),
         tool("wait", [])]


def answer(request):
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"],
                  "capabilities": {"tools": {}, "resources": {}},
                  "serverInfo": {"name": "ranges", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "resources/read":
        result = {"contents": [{"uri": params["uri"], "mimeType": "text/plain",
                                "text": part(0, 5000 * WIDTH)}]}
    elif method == "tools/call":
        content = call(params["name"], params.get("arguments", {}))
        if content is None:
            token = params.get("_meta", {}).get("progressToken")
            send({"jsonrpc": "2.0", "method": "notifications/progress",
                  "params": {"progressToken": token, "progress": 1, "message": "begun"}})
            return
        result = {"content": content}
    else:
        result = {}
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


for text in sys.stdin:
    message = json.loads(text)
    if message.get("method") == "notifications/cancelled":
        open("ranges-cancelled", "w").close()
    elif "id" in message and "method" in message:
        answer(message)
