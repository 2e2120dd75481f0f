"""A model server that misbehaves as told: one behaviour for each request, in order; the last one stays."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

GOOD = "<|ref|>text<|/ref|><|det|>[[10, 20, 900, 100]]<|/det|>\nThe gauges were read every morning at seven.\n"


@dataclass
class BrokenServer:
    """What it is to do, and what it has seen.

    Attributes:
        plan: "good", "503", "429", "400", "500", "busy", "dead", "breaks_off", "stalls", "silent", "not_json",
            "error", "loops", "slow".
        bodies: every chat request.
        left: requests whose client went away.
    """

    plan: list[str] = field(default_factory=lambda: ["good"])
    bodies: list[dict[str, Any]] = field(default_factory=list)
    left: int = 0
    running: int = 0
    most_running: int = 0
    url: str = ""

    async def chat(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(json.loads(await request.read()))
        does = self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]
        if does in {"503", "429", "400", "500"}:  # before the stream; "busy" and "dead" come inside it
            headers = {"Retry-After": "0"} if does == "429" else {}
            return web.json_response({"error": {"message": f"as told: {does}"}}, status=int(does), headers=headers)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            return await self._answer(request, does)
        except (ConnectionError, asyncio.CancelledError):
            self.left += 1
            raise
        finally:
            self.running -= 1

    async def _answer(self, request: web.Request, does: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        if does == "silent":
            await asyncio.sleep(60)
        await response.prepare(request)
        if does in {"busy", "dead"}:
            code = 503 if does == "busy" else 500
            await response.write(_event({"error": {"message": f"as told: {does}", "code": code}}))
            return response
        text = GOOD + "and so on and so forth, " * 3000 if does == "loops" else GOOD
        for at in range(0, len(text), 24):
            if does in {"slow", "loops"}:
                await asyncio.sleep(0.02 if does == "slow" else 0)
            await response.write(_event({"choices": [{"delta": {"content": text[at : at + 24]}}]}))
            if at > 48 and does in {"breaks_off", "stalls", "not_json", "error"}:
                return await self._fault(request, response, does)
        await response.write(_event({"choices": [{"delta": {}, "finish_reason": "stop"}]}))
        await response.write(_event({"choices": [], "usage": {"prompt_tokens": 1131, "completion_tokens": 33}}))
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _fault(self, request: web.Request, response: web.StreamResponse, does: str) -> web.StreamResponse:
        if does == "breaks_off":
            transport = request.transport
            assert transport is not None
            transport.abort()
        elif does == "stalls":
            await asyncio.sleep(60)
        elif does == "not_json":
            await response.write(b"data: {broken\n\n")
        else:
            await response.write(_event({"error": {"message": "engine is on fire"}}))
        return response


def _event(told: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(told).encode() + b"\n\n"


@asynccontextmanager
async def serving(server: BrokenServer) -> AsyncIterator[BrokenServer]:
    """The server on a loopback port."""

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "tiny"}]})

    app = web.Application(client_max_size=2**26)
    app.add_routes([web.post("/v1/chat/completions", server.chat), web.get("/v1/models", models)])
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()
