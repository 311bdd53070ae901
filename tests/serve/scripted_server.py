"""An MCP server over stdio whose tools are in a JSON file, which is read anew for every request.

    scripted_server.py TOOLS.json JOURNAL

A tool has `schema`, `annotations`, and `answer` or `error`: a text, in which $ARGS is replaced by the
arguments. The arguments of every call are appended to the journal, a line each."""

import json
import sys


def tools():
    with open(sys.argv[1]) as file:
        return json.load(file)


def listed(name, tool):
    shown = {"name": name, "inputSchema": tool.get("schema", {"type": "object"})}
    if "annotations" in tool:
        shown["annotations"] = tool["annotations"]
    return shown


def call(name, args):
    tool = tools()[name]
    with open(sys.argv[2], "a") as journal:
        journal.write(json.dumps(args, ensure_ascii=False) + "\n")
    failed = "error" in tool
    text = tool["error"] if failed else tool["answer"]
    text = text.replace("$ARGS", json.dumps(args, ensure_ascii=False))
    return {"content": [{"type": "text", "text": text}], "isError": failed}


for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message or method is None:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        reply["result"] = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "scripted", "version": "1"},
        }
    elif method == "ping":
        reply["result"] = {}
    elif method == "tools/list":
        reply["result"] = {"tools": [listed(name, tool) for name, tool in tools().items()]}
    elif method == "tools/call":
        reply["result"] = call(params["name"], params.get("arguments") or {})
    else:
        reply["error"] = {"code": -32601, "message": "unknown method"}
    print(json.dumps(reply), flush=True)
