"""A small MCP server over stdio that misbehaves on request. Standard library only."""

import argparse
import json
import os
import signal
import sys
import threading
import time

options = argparse.ArgumentParser()
options.add_argument("--hang-at-start", action="store_true")
options.add_argument("--crash-at-start", action="store_true")
options.add_argument("--noisy", action="store_true", help="print lines that are not JSON-RPC")
options.add_argument("--journal", help="append a line for each call of `note`")
options.add_argument("--anonymous", action="store_true", help="leave out serverInfo")
options.add_argument("--chatty", action="store_true", help="log JSON, and begin with a byte order mark")
options.add_argument("--restless", action="store_true", help="announce a change with every listing")
options.add_argument("--fail-relisting", action="store_true", help="answer the second listing with an error")
options.add_argument("--mute", action="store_true", help="answer no ping")
options.add_argument("--deaf", action="store_true", help="stay when input ends and at SIGTERM")
options.add_argument("--tools", type=int, default=0, help="this many more tools, in pages of 7")
options.add_argument("--name", action="append", default=[], help="one more tool with this name, a JSON string")
options = options.parse_args()

lock = threading.Lock()
extra_tools = [json.loads(name) for name in options.name]
cancelled = []
listings = 0


def write(text):
    with lock:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def answer(id, value):
    send({"id": id, "result": {"content": [{"type": "text", "text": value}]}})


def schema(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


TOOLS = {
    "echo": schema(["text"], text={"type": "string"}),
    "sleep": schema(["ms"], ms={"type": "number"}),
    "note": schema(["key"], key={"type": "string"}),
    "big": schema(["mib"], mib={"type": "number"}, id_last={"type": "boolean"}),
    "exit": schema(),
    "never": schema(),
    "twice": schema(),
    "other_id": schema(),
    "wrong": schema(),
    "deep": schema(),
    "fails": schema(),
    "refuses": schema(),
    "progress": schema(),
    "grow": schema(),
    "cancelled": schema(),
    "environment": schema(),
    "hologram": schema(),
    "batch": schema(),
    "shout": schema(),
    "cut": schema(),
    "nulls": schema(),
    "listings": schema(),
    "visit": {"$schema": "http://json-schema.org/draft-07/schema#",
              **schema(["url"], url={"type": "string", "format": "uri"})},
}


def listing(cursor):
    tools = [{"name": name, "description": "odd " + name, "inputSchema": s} for name, s in TOOLS.items()]
    tools += [{"name": "bare_%d" % n} for n in range(options.tools)]
    tools += [{"name": name, "inputSchema": schema()} for name in extra_tools]
    if not options.tools:
        return {"tools": tools}
    start = int(cursor or 0)
    page = {"tools": tools[start : start + 7]}
    if start + 7 < len(tools):
        page["nextCursor"] = str(start + 7)
    return page


def call(id, name, args, meta):
    if name == "echo":
        answer(id, args["text"])
    elif name == "sleep":
        time.sleep(args["ms"] / 1000)
        answer(id, "slept")
    elif name == "note":
        with open(options.journal, "a") as journal:
            journal.write(args["key"] + "\n")
        answer(id, args["key"])
    elif name == "big":
        text = "x" * int(args["mib"] * 1024 * 1024)
        result = '{"content":[{"type":"text","text":"%s"}]}' % text
        if args.get("id_last"):
            write('{"result":%s,"jsonrpc":"2.0","id":%d}' % (result, id))
        else:
            write('{"jsonrpc":"2.0","id":%d,"result":%s}' % (id, result))
    elif name == "exit":
        sys.stderr.write("out of cheese\n")
        sys.stderr.flush()
        os._exit(7)
    elif name == "never":
        pass
    elif name == "twice":
        answer(id, "first")
        answer(id, "second")
    elif name == "other_id":
        answer(id + 1000000, "for another id")
    elif name == "wrong":
        write('{"jsonrpc":"2.0","id":%d,"outcome":"no such key in JSON-RPC"}' % id)
    elif name == "deep":
        nested = "[" * 5000 + "]" * 5000
        write('{"jsonrpc":"2.0","result":{"content":[],"structuredContent":{"a":%s}},"id":%d}' % (nested, id))
    elif name == "fails":
        send({"id": id, "result": {"content": [{"type": "text", "text": "the disk is full"}], "isError": True}})
    elif name == "refuses":
        send({"id": id, "error": {"code": -32000, "message": "not today"}})
    elif name == "progress":
        for step in range(3):
            time.sleep(0.05)
            send({"method": "notifications/progress",
                  "params": {"progressToken": meta["progressToken"], "progress": step, "total": 3}})
        answer(id, "done")
    elif name == "grow":
        extra_tools.append("grown_%d" % len(extra_tools))
        send({"method": "notifications/tools/list_changed"})
        answer(id, extra_tools[-1])
    elif name == "cancelled":
        answer(id, json.dumps(cancelled))
    elif name == "environment":
        answer(id, json.dumps(dict(os.environ)))
    elif name == "hologram":
        send({"id": id, "result": {"content": [{"type": "hologram", "depth": 3}]}})
    elif name == "batch":
        write(json.dumps([{"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "in a list"}]}}]))
    elif name == "shout":
        write("HELLO, THIS IS NOT JSON")
        write('{"neither": "is this"}')
        answer(id, "heard")
    elif name == "cut":
        write('{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"cut \\ud83d"}]}}' % id)
    elif name == "nulls":
        send({"id": id, "result": None, "error": {"code": -32000, "message": "not today either"}})
    elif name == "listings":
        answer(id, str(listings))
    elif name == "visit":
        answer(id, args["url"])
    elif name in extra_tools or name.startswith("bare_"):
        answer(id, name)
    else:
        send({"id": id, "error": {"code": -32602, "message": "unknown tool"}})


def handle(message):
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "initialize":
        about = {} if options.anonymous else {"serverInfo": {"name": "odd", "version": "1"}}
        if options.chatty:
            write('{"id": %d, "event": "cache loaded"}' % id)
            sys.stdout.write("\ufeff")
        send({"id": id, "result": {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            **about,
        }})
    elif method == "ping":
        if not options.mute:
            send({"id": id, "result": {}})
    elif method == "tools/list":
        global listings
        listings += 1
        if options.fail_relisting and listings == 2:
            send({"id": id, "error": {"code": -32603, "message": "not now"}})
            return
        send({"id": id, "result": listing(params.get("cursor"))})
        if options.restless:
            send({"method": "notifications/tools/list_changed"})
    elif method == "tools/call":
        arguments = (id, params["name"], params.get("arguments") or {}, params.get("_meta") or {})
        # Only what takes time needs a thread; the rest is answered in order.
        if params["name"] in ("sleep", "progress"):
            threading.Thread(target=call, args=arguments, daemon=True).start()
        else:
            call(*arguments)
    elif method == "notifications/cancelled":
        cancelled.append(params.get("reason"))
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "unknown method"}})


if options.crash_at_start:
    sys.stderr.write("cannot open the cellar door\n")
    sys.exit(3)
if options.hang_at_start:
    sys.stderr.write("waiting for the moon\n")
    sys.stderr.flush()
    time.sleep(3600)
if options.deaf:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if options.noisy:
    print("Welcome to the odd server!\n\n{broken json")
for line in sys.stdin:
    handle(json.loads(line))
if options.deaf:
    time.sleep(3600)
os._exit(0)
