"""The managed server: what it honours, how pages stream, end, wait and survive it."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import pytest
from tests.vllm.conftest import QUEUED, SEQUENCES
from tests.vllm.pictures import SMALL, TILED, page

from pageloom.asking.opening import Opening
from pageloom.asking.probes import look
from pageloom.contracts import ImageSize, Prompt
from pageloom.dialects.deepseek_ocr2 import DIALECT, DeepseekOcr2
from pageloom.errors import EngineUnavailable
from pageloom.model.document import Route
from pageloom.model.reading import Ask, BlockEvent, Decoding, Delta, PageRequest, Reading
from pageloom.pipeline.askers import LoopAsker, unheard
from pageloom.pipeline.ladder import RetryBudget, climb

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from pageloom.engines.vllm.managed import ManagedEngine

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]  # a start takes minutes on a busy machine


def asked(number: int, tokens: int = 24, priority: int = 0, size: tuple[int, int] = SMALL) -> PageRequest:
    return PageRequest(
        number,
        None,
        None,
        encoded=page(size, number),
        decoding=Decoding(tokens),
        priority=priority,
        attempt=f"p{number}",
    )


async def read(engine: ManagedEngine, request: PageRequest) -> Reading:
    async for item in engine.read(request):
        if isinstance(item, Reading):
            return item
    raise AssertionError("no reading")


async def metric(engine: ManagedEngine, name: str) -> float:
    """Sum of a metric over its labels."""
    (server,) = engine.served.servers.values()
    async with server._session.get(f"{server.root}/metrics") as response:
        text = await response.text()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(f"vllm:{name}{{"))


def test_the_server_is_what_it_should_be(managed: ManagedEngine) -> None:
    traits = managed.served.traits
    assert traits.vllm
    assert traits.guard, "the n-gram guard is not honoured"
    assert traits.repetition
    assert traits.priority


def test_a_wrong_tokenizer_is_found_at_the_start(managed: ManagedEngine, portal: BlockingPortal) -> None:
    class Shifted(DeepseekOcr2):
        special_tokens: ClassVar = {**DIALECT.special_tokens, "<|ref|>": 128900}

    (server,) = managed.served.servers.values()
    with pytest.raises(EngineUnavailable, match="wrong tokenizer"):
        portal.call(look, server, Shifted(), managed.name.model)


def test_another_prompt_is_found_at_the_start(managed: ManagedEngine, portal: BlockingPortal) -> None:
    class Doubled(DeepseekOcr2):
        def ask(self, ask: Ask, size: ImageSize) -> Prompt:
            return replace(super().ask(ask, size), text="no line break first")

    (server,) = managed.served.servers.values()
    with pytest.raises(EngineUnavailable, match="chat template"):
        portal.call(look, server, Doubled(), managed.name.model)


def test_random_weights_are_not_ready_and_say_so(managed: ManagedEngine, portal: BlockingPortal) -> None:
    opening = Opening("vllm", managed.served.servers, DIALECT)
    with pytest.raises(EngineUnavailable, match="are these the trained weights"):
        portal.call(opening.canary, managed.served, 120.0)


def test_prompt_tokens_are_what_the_dialect_says(managed: ManagedEngine, portal: BlockingPortal) -> None:
    tiled = portal.call(read, managed, asked(1, 4, size=TILED))
    small = portal.call(read, managed, asked(2, 4))
    assert tiled.prompt_tokens - small.prompt_tokens == 1121 - 257
    assert small.output_tokens == 4


def test_words_are_streamed_with_their_probability(managed: ManagedEngine, portal: BlockingPortal) -> None:
    async def go() -> list[tuple[str, float]]:
        began = time.monotonic()
        return [(type(item).__name__, time.monotonic() - began) async for item in managed.read(asked(3, 60))]

    told = portal.call(go)
    deltas = [at for kind, at in told if kind == Delta.__name__]
    assert len(deltas) >= 4
    assert deltas[0] < told[-1][1]
    reading = portal.call(read, managed, asked(4, 12))
    assert reading.score is not None
    assert 0 < reading.score <= 1


def test_a_page_that_nobody_waits_for_stops_running(managed: ManagedEngine, portal: BlockingPortal) -> None:
    async def go() -> float:
        items = managed.read(asked(5, 3000))
        await anext(items)
        assert await metric(managed, "num_requests_running") == 1
        await items.aclose()  # type: ignore[attr-defined]
        began = time.monotonic()
        while await metric(managed, "num_requests_running"):  # noqa: ASYNC110 - it is the server that tells
            await asyncio.sleep(0.05)
        return time.monotonic() - began

    assert portal.call(go) < 1.0


def test_a_lower_priority_number_comes_first(managed: ManagedEngine, portal: BlockingPortal) -> None:
    ended: list[int] = []

    async def one(number: int, priority: int, tokens: int) -> None:
        await read(managed, asked(number, tokens, priority))
        ended.append(number)

    async def go() -> None:
        limit = managed.served.replicas.all[0].limit
        limit.most, limit.now = 16, 16.0
        async with asyncio.TaskGroup() as group:
            for number in range(1, SEQUENCES + 1):  # they fill the server
                group.create_task(one(number, 0, 250))
            await asyncio.sleep(0.5)
            for number in range(11, 15):
                group.create_task(one(number, 50, 60))
            await asyncio.sleep(0.2)
            group.create_task(one(99, -50, 4))

    try:
        portal.call(go)
    finally:
        managed.served.replicas.all[0].limit.most = SEQUENCES
    assert ended.index(99) < max(ended.index(number) for number in range(11, 15))


def test_a_full_server_says_503_and_no_page_is_lost(managed: ManagedEngine, portal: BlockingPortal) -> None:
    count = SEQUENCES + QUEUED + 10

    async def go() -> tuple[list[Reading], float]:
        limit = managed.served.replicas.all[0].limit
        limit.most = count
        limit.now = float(count)
        before = await metric(managed, "admission_rejections_total")
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(read(managed, asked(number, 8))) for number in range(1, count + 1)]
        limit.most = SEQUENCES
        return [task.result() for task in tasks], await metric(managed, "admission_rejections_total") - before

    readings, refused = portal.call(go)
    assert len(readings) == count
    assert refused > 0
    assert managed.served.replicas.all[0].limit.now < count


@dataclass
class How:
    engine: str = "vllm"
    native: None = None
    attempts: int = 1
    retries: RetryBudget = field(default_factory=RetryBudget)


def test_an_engine_killed_in_a_document_loses_and_doubles_no_page(
    managed: ManagedEngine, portal: BlockingPortal
) -> None:
    done: list[int] = []
    attempts: dict[int, list[str]] = {}

    async def one(number: int) -> None:
        climbed = await climb(Route(name="ocr"), asked(number, 40), None, {"vllm": LoopAsker(managed)}, How(), unheard)
        done.append(number)
        attempts[number] = [attempt.outcome for attempt in climbed.attempts]

    async def go() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(1, 21):
                group.create_task(one(number))
            while len(done) < 5:  # noqa: ASYNC110 - five pages in, wherever the engine is
                await asyncio.sleep(0.05)
            child = managed.children[0]
            assert child.process is not None
            os.killpg(child.process.pid, signal.SIGKILL)

    starts = managed.children[0].starts
    portal.call(go)
    assert sorted(done) == list(range(1, 21))
    assert managed.children[0].starts == starts + 1
    assert any("engine_dead" in tried for tried in attempts.values())


def test_blocks_have_their_page_s_number(managed: ManagedEngine, portal: BlockingPortal) -> None:
    """After a restart the engine reads on as before."""

    async def go() -> list[str]:
        events = [item async for item in managed.read(asked(7, 12))]
        reading = events[-1]
        assert isinstance(reading, Reading)
        return [block.id for block in reading.blocks] + [e.block.id for e in events if isinstance(e, BlockEvent)]

    assert all(name.startswith("p7-") for name in portal.call(go))
