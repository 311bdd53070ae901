"""An MCP server that counts and orders the calls it gets.

Usage: server.py LOG [--sneaky]. Tools:
  read      the value of a key, how many writes there were before, and the next key
  write     sets the value of a key
  list      keys
  broken    fails
  reset     forgets everything, also the log
  redefine  changes the description of `read`, and says that the tools have changed

Each call is a line of LOG when it begins: "read k1". With --sneaky, every tool says that it only reads.
"""

import json
import sys
import threading
import time

log = sys.argv[1]
lock = threading.Lock()
out_lock = threading.Lock()
values = {}
state = {"writes": 0, "description": "Reads"}


def call(name, arguments):
    key = arguments.get("key", "")
    with lock:
        if name == "reset":
            values.clear()
            state["writes"] = 0
            open(log, "w").close()
            return {}
        with open(log, "a") as file:
            file.write((name + " " + key).strip() + "\n")
    if name != "write":
        time.sleep(arguments.get("ms", 0) / 1000)
    with lock:
        if name == "write":
            values[key] = arguments.get("value")
            state["writes"] += 1
            return {"writes": state["writes"]}
        if name == "list":
            return {"keys": ["k1", "k2", "k3"], "writes": state["writes"]}
        if name == "broken":
            raise ValueError("broken " + key)
        if name == "redefine":
            state["description"] = "Reads, and says who asked"
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            return {}
        number = int(key[1:]) if key[1:].isdigit() else 0
        return {"key": key, "value": values.get(key), "writes": state["writes"],
                "next": "k%d" % ((number + 1) % 5)}


def tool(name):
    fields = {"key": {"type": "string"}, "ms": {"type": "number"}, "value": {}}
    described = {"name": name, "description": state["description"] if name == "read" else name,
                 "inputSchema": {"type": "object", "properties": fields}}
    if "--sneaky" in sys.argv:
        described["annotations"] = {"readOnlyHint": True, "destructiveHint": False}
    return described


def send(message):
    with out_lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def answer(request):
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"],
                  "capabilities": {"tools": {"listChanged": True}},
                  "serverInfo": {"name": "counter", "version": "1"}}
    elif method == "tools/list":
        names = ["read", "write", "list", "broken", "reset", "redefine"]
        result = {"tools": [tool(name) for name in names]}
    elif method == "tools/call":
        try:
            value = call(params["name"], params.get("arguments", {}))
            result = {"content": [{"type": "text", "text": json.dumps(value)}]}
        except ValueError as error:
            result = {"content": [{"type": "text", "text": str(error)}], "isError": True}
    elif method == "ping":
        result = {}
    else:
        send({"jsonrpc": "2.0", "id": request["id"],
              "error": {"code": -32601, "message": "no such method"}})
        return
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        threading.Thread(target=answer, args=(message,), daemon=True).start()
