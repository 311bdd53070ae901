"""Drives a server with the Python SDK of MCP: a plan on standard input, what happened on standard output."""

import asyncio
import json
import sys

import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters

plan = json.load(sys.stdin)
heard = {"progress": [], "logs": [], "asked": [], "messages": [], "session": None}


async def elicit(_context, params):
    heard["asked"].append(params.message)
    return types.ElicitResult(**plan["elicit"])


async def log(params):
    heard["logs"].append([params.level, params.data])


async def message(received):
    heard["messages"].append(type(received).__name__)


async def progress(done, _total, text):
    heard["progress"].append([done, text])


async def step(client, wanted):
    try:
        if wanted == "list":
            listed = await client.list_tools()
            return {"tools": [tool.model_dump(mode="json", by_alias=True) for tool in listed.tools]}
        if wanted == "info":
            return {"version": client.protocol_version}
        if "level" in wanted:
            await client.set_logging_level(wanted["level"])
            return {}
        if "cancel_after" in wanted:
            call = asyncio.create_task(client.call_tool(wanted["tool"], wanted["args"]))
            await asyncio.sleep(wanted["cancel_after"])
            call.cancel()
            try:
                await call
            except asyncio.CancelledError:
                return {"cancelled": True}
        meta = {"pml/session": heard["session"]} if heard["session"] else None
        answer = await client.call_tool(wanted["tool"], wanted["args"], progress_callback=progress, meta=meta)
        heard["session"] = (answer.meta or {}).get("pml/session")
        return answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


async def main():
    target = plan.get("url") or StdioServerParameters(
        command=plan["command"][0], args=plan["command"][1:], env=plan.get("env"), cwd=plan.get("folder")
    )
    client = Client(
        target,
        mode=plan["mode"],
        elicitation_callback=elicit if plan.get("elicit") else None,
        logging_callback=log,
        log_level=plan.get("log_level"),
        message_handler=message,
    )
    async with client:
        if plan.get("together"):
            done = await asyncio.gather(*(step(client, wanted) for wanted in plan["steps"]))
        else:
            done = [await step(client, wanted) for wanted in plan["steps"]]
        # What was sent before the answer has arrived before it; handlers may still be at it.
        await asyncio.sleep(0.2)
    print(json.dumps({"steps": done, **heard}))


asyncio.run(main())
