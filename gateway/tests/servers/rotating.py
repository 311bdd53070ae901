"""A small MCP server over stdio in front of a service that knows which tokens are valid.

The valid tokens are the lines of the file VALID; the own one is API_TOKEN. Standard library only."""

import json
import os
import sys
import threading
import time

lock = threading.Lock()
TOOLS = ["who", "leak", "command_line"]


def send(message):
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def answer(id, text, failed=False):
    send({"id": id, "result": {"content": [{"type": "text", "text": text}], "isError": failed}})


def call(id, name, args):
    if name == "who":
        with open(os.environ["STARTED"], "a") as started:
            started.write("x")
        time.sleep(args.get("ms", 0) / 1000)
        with open(os.environ["VALID"]) as valid:
            if os.environ["API_TOKEN"] in valid.read().split():
                answer(id, "process %d" % os.getpid())
            else:
                answer(id, "the service answered 401 Unauthorized", failed=True)
    elif name == "leak":
        sys.stderr.write("the token is %s\n" % os.environ["API_TOKEN"])
        sys.stderr.flush()
        answer(id, "my token is " + os.environ["API_TOKEN"])
    else:
        with open("/proc/self/cmdline", "rb") as words:
            answer(id, words.read().replace(b"\0", b" ").decode())


for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "initialize":
        send({"id": id, "result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                                   "serverInfo": {"name": "rotating", "version": "1"}}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": [
            {"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}})
    elif method == "tools/call":
        arguments = (id, params["name"], params.get("arguments") or {})
        threading.Thread(target=call, args=arguments, daemon=True).start()
    elif id is not None:
        send({"id": id, "result": {}})
os._exit(0)
