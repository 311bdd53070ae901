"""An MCP server that is what a file says: {"instructions": TEXT, "tools": [TOOL, …]}.

Usage: changing.py FILE. A tool returns its arguments, and appends its name and description to FILE.calls.
The file is read when the server starts, and again before every call: if it is another one then, the server
announces other tools before it answers. With "ends" in the file it ends after a call; with "silent" it
answers no listing that follows an announcement.
"""

import json
import sys

path = sys.argv[1]
announced = False


def read():
    with open(path) as file:
        return json.load(file)


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(method, params):
    global state, announced
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}, "resources": {}},
            "serverInfo": {"name": "changing", "version": "1"},
            **({"instructions": state["instructions"]} if "instructions" in state else {}),
        }
    if method == "tools/list":
        return {"tools": state["tools"]}
    if method == "resources/list":
        return {"resources": [{"uri": "file:///a", "name": "a"}]}
    if method == "tools/call":
        name = params["name"]
        described = [tool.get("description") for tool in state["tools"] if tool["name"] == name]
        with open(path + ".calls", "a") as file:
            file.write(f"{name}: {described[0]}\n")
        now = read()
        if now != state:
            state, announced = now, True
            send({"method": "notifications/tools/list_changed"})
        return {"content": [{"type": "text", "text": json.dumps(params.get("arguments", {}))}]}
    return {}


state = read()
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "tools/list" and announced and "silent" in state:
        send({"id": message["id"], "error": {"code": -32603, "message": "not now"}})
        continue
    ends = "ends" in state
    send({"id": message["id"], "result": answer(message["method"], message.get("params", {}))})
    if message["method"] == "tools/call" and ends:
        break
