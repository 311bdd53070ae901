"""An MCP server whose effects can be counted: each is a line of a file that is fsynced.

Usage: ledger.py FOLDER. Tools:
  record   appends "record TEXT"; repeating it repeats the line
  pay      appends "pay KEY AMOUNT" once per idempotency key
  put      appends "put TEXT"; meant to be repeatable
  look     changes nothing; appends to another file, so that reads can be counted
  find     the lines that contain a text

The descriptions of the tools differ if the file FOLDER/changed exists when the server starts.

A call with "hold" waits at a place until the file FOLDER/go exists, and says that it waits by the file
FOLDER/held: "before" its effect, or "after" it. A call with "die" ends the server there, the first time.
"""

import json
import os
import sys
import threading
import time

folder = sys.argv[1]
lock = threading.Lock()
out_lock = threading.Lock()


def path(name):
    return os.path.join(folder, name)


def lines():
    try:
        with open(path("effects")) as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def append(name, line):
    with open(path(name), "a") as file:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())


def hold(arguments, place):
    if arguments.get("die") == place and not os.path.exists(path("died")):
        append("died", place)
        os._exit(3)
    if arguments.get("hold") != place:
        return
    with open(path("held"), "w") as file:
        file.write(place)
    while not os.path.exists(path("go")):
        time.sleep(0.005)


def call(name, arguments):
    time.sleep(arguments.get("ms", 0) / 1000)
    hold(arguments, "before")
    with lock:
        if name == "record":
            append("effects", "record " + arguments["text"])
            result = {"text": arguments["text"]}
        elif name == "pay":
            key = arguments["idempotency_key"]
            if not any(line.startswith("pay " + key + " ") for line in lines()):
                append("effects", "pay %s %s" % (key, arguments["amount"]))
            result = {"paid": arguments["amount"]}
        elif name == "put":
            append("effects", "put " + arguments["text"])
            result = {"text": arguments["text"]}
        elif name == "look":
            append("reads", arguments.get("text", ""))
            result = {"text": arguments.get("text", "")}
        else:
            found = [line for line in lines() if arguments["text"] in line.split(" ")]
            result = [{"text": arguments["text"]} for _ in found]
    hold(arguments, "after")
    return result


def tool(name, required):
    fields = {"text": {"type": "string"}, "amount": {"type": "number"}, "ms": {"type": "number"},
              "hold": {"type": "string"}, "die": {"type": "string"}, "idempotency_key": {"type": "string"}}
    return {"name": name, "description": "The tool " + name + (" (changed)" if os.path.exists(path("changed")) else ""),
            "inputSchema": {"type": "object", "properties": fields, "required": required}}


TOOLS = [tool("record", ["text"]), tool("pay", ["amount", "idempotency_key"]),
         tool("put", ["text"]), tool("look", []), tool("find", ["text"])]


def send(message):
    with out_lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def answer(request):
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "ledger", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        value = call(params["name"], params.get("arguments", {}))
        result = {"content": [{"type": "text", "text": json.dumps(value)}]}
    elif method == "ping":
        result = {}
    else:
        send({"jsonrpc": "2.0", "id": request["id"],
              "error": {"code": -32601, "message": "no such method"}})
        return
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


with open(path("pid"), "w") as file:
    file.write(str(os.getpid()))
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        threading.Thread(target=answer, args=(message,), daemon=True).start()
