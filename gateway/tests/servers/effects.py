"""An MCP server over stdio that writes down every call that arrives. Standard library only."""

import argparse
import json
import os
import sys

options = argparse.ArgumentParser()
options.add_argument("journal", help="append a line of JSON for each call")
options.add_argument("--vanish", type=int, default=0, help="end without an answer to this many calls")
options = options.parse_args()

ANY = {"type": "object"}
TOOLS = [
    {"name": "look", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "put", "inputSchema": ANY, "annotations": {"idempotentHint": True}},
    {"name": "wipe", "inputSchema": ANY, "annotations": {"destructiveHint": True}},
    {"name": "act", "inputSchema": ANY},
    {"name": "pay", "inputSchema": {
        "type": "object",
        "properties": {"amount": {"type": "number"}, "key": {"type": "string"}},
        "required": ["amount", "key"],
        "additionalProperties": False,
    }},
]


def arrived(name, arguments):
    with open(options.journal, "a+") as journal:
        journal.write(json.dumps({"tool": name, "args": arguments}) + "\n")
        journal.seek(0)
        return len(journal.readlines())


for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "effects", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        count = arrived(params["name"], params.get("arguments"))
        if count <= options.vanish:
            os._exit(1)
        result = {"content": [{"type": "text", "text": "done"}]}
    else:
        result = {}
    if id is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
