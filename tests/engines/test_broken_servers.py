"""Whatever a server does, a page ends as the contract says."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from tests.engines.broken_server import BrokenServer, serving

from pageloom import plugins
from pageloom.asking import served
from pageloom.asking.opening import opened
from pageloom.asking.served import Patience, ServedEngine
from pageloom.asking.server import Limits
from pageloom.engines.openai import FACTORY, OpenaiOptions
from pageloom.errors import EngineTimeout, EngineUnavailable, RecognitionError
from pageloom.model.image import EncodedImage
from pageloom.model.reading import BlockEvent, PageRequest, Reading

LIMITS = Limits(connect_s=1, first_token_s=0.5, stall_s=0.5)
JPEG = EncodedImage(b"not looked at here", 1191, 1684)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "LONGEST_WAIT_S", 0.02)


@asynccontextmanager
async def engine_on(*servers: BrokenServer, most: int = 8) -> AsyncIterator[ServedEngine]:
    async with AsyncExitStack() as stack:
        for server in servers:
            await stack.enter_async_context(serving(server))
        dialect = plugins.load("dialects", "deepseek_ocr2")
        opening = await stack.enter_async_context(opened("openai", [s.url for s in servers], None, dialect, LIMITS))
        engine = await opening.engine("", most)
        engine.patience = Patience(busy_s=1.0, gone_s=0.3)
        yield engine


async def read(engine: ServedEngine, number: int = 1, **more: object) -> Reading:
    last: object = None
    async for item in engine.read(PageRequest(number, None, None, encoded=JPEG, **more)):  # type: ignore[arg-type]
        last = item
    assert isinstance(last, Reading)
    return last


def one_page(*plan: str) -> tuple[Reading, BrokenServer]:
    server = BrokenServer(list(plan))

    async def go() -> Reading:
        async with engine_on(server) as engine:
            return await read(engine)

    return asyncio.run(go()), server


def test_a_page_is_streamed_and_counted() -> None:
    reading, server = one_page("good")
    assert reading.raw.endswith("at seven.\n")
    assert (reading.prompt_tokens, reading.output_tokens) == (1131, 33)
    assert reading.engine.model == "tiny"
    assert "ngram_guard_off" in reading.notes  # no vLLM: nothing is known of its guard
    assert server.bodies[0]["messages"][0]["content"][1]["text"] == "<|grounding|>Convert the document to markdown."


def test_a_server_that_is_no_vllm_is_sent_standard_fields_only() -> None:
    _, server = one_page("good")
    assert not {"vllm_xargs", "skip_special_tokens", "priority", "repetition_detection"} & set(server.bodies[0])


@pytest.mark.parametrize("storm", ["503", "429", "busy"])
def test_a_storm_of_refusals_is_waited_out(storm: str) -> None:
    reading, server = one_page(*[storm] * 9, "good")
    assert reading.finish == "stop"
    assert len(server.bodies) == 10


@pytest.mark.parametrize("fault", ["breaks_off", "500", "dead"])
def test_a_broken_connection_is_tried_again_from_the_beginning(fault: str) -> None:
    reading, server = one_page(fault, fault, "good")
    assert reading.raw.count("gauges") == 1
    assert len(server.bodies) == 3


def test_transport_is_tried_four_times() -> None:
    with pytest.raises(EngineUnavailable):
        one_page("500")


@pytest.mark.parametrize("fault", ["silent", "stalls"])
def test_no_progress_is_a_timeout(fault: str) -> None:
    with pytest.raises(EngineTimeout):
        one_page(fault)


def test_slow_is_no_fault_while_words_come() -> None:
    reading, _ = one_page("slow")
    assert reading.finish == "stop"


@pytest.mark.parametrize("fault", ["not_json", "error", "400"])
def test_nonsense_is_told_and_never_a_page(fault: str) -> None:
    with pytest.raises(RecognitionError):
        one_page(fault)


def test_a_loop_is_cut_and_the_request_is_given_up() -> None:
    server = BrokenServer(["loops"])

    async def go() -> Reading:
        async with engine_on(server) as engine:
            reading = await read(engine)
            for _ in range(100):
                if server.left:
                    break
                await asyncio.sleep(0.02)
            return reading

    reading = asyncio.run(go())
    assert reading.finish == "loop"
    assert reading.raw.count("and so forth") <= 1
    assert server.left == 1


def test_closing_the_iterator_frees_the_server() -> None:
    server = BrokenServer(["stalls"])

    async def go() -> None:
        async with engine_on(server) as engine:
            items = engine.read(PageRequest(1, None, None, encoded=JPEG))
            assert await anext(items) is not None
            await items.aclose()  # type: ignore[attr-defined]
            for _ in range(50):
                if server.running == 0:
                    break
                await asyncio.sleep(0.02)
            assert server.running == 0
            assert engine.replicas.all[0].outstanding == 0
            assert engine.replicas.all[0].breaker.closed

    asyncio.run(go())


def test_pages_go_to_the_server_that_has_fewest() -> None:
    servers = BrokenServer(["slow"]), BrokenServer(["slow"])

    async def go() -> None:
        async with engine_on(*servers) as engine, asyncio.TaskGroup() as group:
            for number in range(1, 9):
                group.create_task(read(engine, number))

    asyncio.run(go())
    assert [len(server.bodies) for server in servers] == [4, 4]


def test_no_server_gets_more_pages_than_its_limit() -> None:
    server = BrokenServer(["slow"])

    async def go() -> None:
        async with engine_on(server, most=3) as engine, asyncio.TaskGroup() as group:
            for number in range(1, 10):
                group.create_task(read(engine, number))

    asyncio.run(go())
    assert server.most_running == 3


def test_a_dead_replica_is_left_alone_and_the_pages_go_elsewhere() -> None:
    broken, well = BrokenServer(["500"]), BrokenServer(["good"])

    async def go() -> list[Reading]:
        async with engine_on(broken, well) as engine:
            return [await read(engine, number) for number in range(1, 21)]

    readings = asyncio.run(go())
    assert all(reading.finish == "stop" for reading in readings)
    assert len(broken.bodies) < 10


def test_a_looping_page_never_opens_a_breaker() -> None:
    server = BrokenServer(["loops"])

    async def go() -> bool:
        async with engine_on(server) as engine:
            for number in range(1, 8):
                await read(engine, number)
            return engine.replicas.all[0].breaker.closed

    assert asyncio.run(go())


def test_a_stream_brings_its_first_block_before_its_end() -> None:
    server = BrokenServer(["slow"])

    async def go() -> list[str]:
        async with engine_on(server) as engine:
            return [type(item).__name__ async for item in engine.read(PageRequest(1, None, None, encoded=JPEG))]

    kinds = asyncio.run(go())
    assert kinds.index("Delta") < kinds.index("Reading")
    assert BlockEvent.__name__ in kinds or kinds.count("Delta") > 1


def test_an_engine_without_servers_says_what_to_set() -> None:
    state = FACTORY.available(OpenaiOptions())
    assert not state.works
    assert "urls" in state.fix


def test_the_canary_refuses_a_server_that_cannot_read() -> None:
    server = BrokenServer(["good"])

    async def go() -> None:
        async with serving(server), FACTORY.open(OpenaiOptions(urls=(server.url,))):
            pytest.fail("it was opened")

    with pytest.raises(EngineUnavailable, match="known page"):
        asyncio.run(go())


def test_an_unreachable_server_is_told_at_the_start() -> None:
    async def go() -> None:
        async with FACTORY.open(OpenaiOptions(urls=("http://127.0.0.1:9",), canary=False)):
            pytest.fail("it was opened")

    with pytest.raises(EngineUnavailable, match="no server is reachable"):
        asyncio.run(go())
