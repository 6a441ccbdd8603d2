"""Drives the Python clients: the one of the official SDK, and FastMCP.

Reads a job on standard input (see checks/checks.go) and prints one line of JSON for
each check.
"""

import asyncio
import json
import re
import sys
from contextlib import AsyncExitStack

import fastmcp
import httpx2
import mcp
from fastmcp.client.transports import StreamableHttpTransport
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ResourceTemplateReference


async def official(stack, job, token):
    """A client of the official SDK, in the job's mode."""
    http = await stack.enter_async_context(httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}))
    transport = streamable_http_client(job["url"], http_client=http)
    return await stack.enter_async_context(mcp.Client(transport, mode=job["mode"]))


async def fast(stack, job, token):
    """A client of FastMCP, in the job's mode."""
    transport = StreamableHttpTransport(job["url"], auth=token)
    return await stack.enter_async_context(fastmcp.Client(transport, mode=job["mode"]))


WAYS = {"mcp": official, "fastmcp": fast}


def connect(client, _):
    said = {"speaks": client.protocol_version, "server": client.server_info, "capabilities": client.server_capabilities}
    return asyncio.sleep(0, said)


def lists(client, check):
    return {
        "resources": client.list_resources,
        "templates": client.list_resource_templates,
        "tools": client.list_tools,
        "prompts": client.list_prompts,
    }[check["what"]]()


def complete(client, check):
    ref = ResourceTemplateReference(type="ref/resource", uri=check["template"])
    return client.complete(ref, {"name": check["argument"], "value": check["value"]})


VERBS = {
    "connect": connect,
    "list": lists,
    "read": lambda client, check: client.read_resource(check["uri"]),
    "complete": complete,
    "call": lambda client, check: client.call_tool(check["tool"], check.get("arguments", {})),
    "prompt": lambda client, check: client.get_prompt(check["prompt"], check.get("arguments", {})),
}


def plain(value):
    """A result as JSON text, whether it is a model or a list of them."""
    return json.dumps(value, default=lambda o: o.model_dump(mode="json", by_alias=True) if hasattr(o, "model_dump") else str(o))


def shown(error):
    """An error as a caller sees it, with those inside a group."""
    if isinstance(error, BaseExceptionGroup):
        return " ".join(shown(inner) for inner in error.exceptions)
    detail = getattr(error, "error", None)
    return f"{type(error).__name__} {error} {plain(detail) if detail else ''}"


async def perform(job, check):
    """One check with a client of its own: a failed one may take its client with it."""
    async with AsyncExitStack() as stack:
        client = await WAYS[job["way"]](stack, job, job["tokens"][check["as"]])
        result = await VERBS[check["do"]](client, check)
        return {"ok": not getattr(result, "is_error", False), "text": plain(result)}


kept = {}


def filled(check):
    """The check with what was kept in place of its names."""
    text = json.dumps(check.get("arguments", {}))
    return {**check, "arguments": json.loads(re.sub(r'"\$(\w+)"', lambda m: json.dumps(kept.get(m[1], m[1])), text))}


def keep(check, text):
    """Keeps what later checks want of a result."""
    for name, pattern in check.get("keep", {}).items():
        if found := re.search(pattern, text):
            kept[name] = found[0]


async def main():
    job = json.load(sys.stdin)
    for check in job["checks"]:
        try:
            outcome = await perform(job, filled(check))
            keep(check, outcome["text"])
        except BaseException as error:  # groups hold what matters
            outcome = {"ok": False, "text": shown(error)}
        print(json.dumps(outcome), flush=True)


asyncio.run(main())
