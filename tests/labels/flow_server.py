"""An MCP server whose every answer has a new word, and that keeps what it was given.

Usage: flow_server.py FILE. FILE is {"word": PREFIX, "tools": [TOOL, …]}. A tool returns its arguments and a word
that begins with PREFIX; a tool called `fail` returns them as an error. Arguments are appended to FILE.calls.
"""

import json
import random
import string
import sys

path = sys.argv[1]
with open(path) as file:
    state = json.load(file)


def word():
    return state["word"] + "".join(random.choices(string.ascii_lowercase, k=12))


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "flow", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": state["tools"]}
    if method == "tools/call":
        arguments = params.get("arguments", {})
        with open(path + ".calls", "a") as file:
            file.write(json.dumps({"tool": params["name"], "args": arguments}) + "\n")
        text = json.dumps({"word": word(), "args": arguments})
        return {"content": [{"type": "text", "text": text}], "isError": params["name"] == "fail"}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
        sys.stdout.flush()
