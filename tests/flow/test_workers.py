"""Whatever happens to a child process costs one attempt, never the run."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from pageloom.errors import DamagedDocument, EngineDead, EngineTimeout, RenderCrashed, RenderTimeout
from pageloom.model.geometry import PageSize
from pageloom.model.image import Target
from pageloom.model.job import PageTask
from pageloom.model.reading import PageRequest
from pageloom.pipeline.workers import EngineSpec, WorkerOptions, Workers, error_from

OPTIONS = WorkerOptions(decoders=1, readers=1, draw_seconds=20)
NATIVE = EngineSpec("native", {"layout": "rules"}, 20)


def task(path: Path, page: int = 1) -> PageTask:
    return PageTask(job="t", number=page, file=path, file_page=page, size=PageSize(595, 842))


def test_a_text_layer_is_read_in_one_trip(three_pages: Path) -> None:
    async def go() -> str:
        async with Workers.running(OPTIONS) as workers:
            _, reading = await workers.draw_and_read(task(three_pages, 2), NATIVE, ())
            return reading.raw

    assert "number 2" in asyncio.run(go())


def test_a_page_that_is_not_there_is_an_error_of_ours(three_pages: Path) -> None:
    async def go() -> None:
        async with Workers.running(OPTIONS) as workers:
            await workers.draw(task(three_pages, 9), None, "raw")

    with pytest.raises(DamagedDocument, match="page 9"):
        asyncio.run(go())


@pytest.mark.usefixtures("linux")
def test_a_killed_decoder_loses_one_attempt_and_the_next_page_is_drawn(three_pages: Path) -> None:
    async def go() -> int:
        async with Workers.running(OPTIONS) as workers:
            await workers.open(three_pages, None)
            os.kill(workers.pids[0], signal.SIGSTOP)
            drawing = asyncio.ensure_future(workers.draw(task(three_pages), Target(), "jpeg"))
            await asyncio.sleep(0.1)
            os.kill(workers.pids[0], signal.SIGKILL)
            with pytest.raises(RenderCrashed, match="SIGKILL"):
                await drawing
            drawn = await workers.draw(task(three_pages, 2), Target(), "jpeg")
            return len(drawn.page.encoded.jpeg if drawn.page.encoded else b"")

    assert asyncio.run(go()) > 1000


@pytest.mark.usefixtures("linux")
def test_a_hanging_decoder_is_ended_at_its_limit(three_pages: Path) -> None:
    async def go() -> tuple[int, tuple[int, ...]]:
        async with Workers.running(WorkerOptions(decoders=1, readers=1, draw_seconds=5)) as workers:
            await workers.open(three_pages, None)
            stuck = workers.pids[0]
            os.kill(stuck, signal.SIGSTOP)
            with pytest.raises(RenderTimeout, match="page 1 took longer than 5 s"):
                await workers.draw(task(three_pages), None, "raw")
            return stuck, workers.pids

    stuck, left = asyncio.run(go())
    assert stuck not in left


@pytest.mark.usefixtures("linux")
def test_a_dead_reader_is_an_engine_fault_not_a_file_fault(three_pages: Path) -> None:
    async def go() -> None:
        async with Workers.running(OPTIONS) as workers:
            await workers.load(NATIVE)
            os.kill(workers.pids[0], signal.SIGSTOP)
            reading = asyncio.ensure_future(workers.read(NATIVE, PageRequest(1, None, None), None))
            await asyncio.sleep(0.1)
            os.kill(workers.pids[0], signal.SIGKILL)
            with pytest.raises(EngineDead):
                await reading
            slow = EngineSpec("native", {"layout": "rules"}, 0.5)
            await workers.load(NATIVE)
            os.kill(workers.pids[0], signal.SIGSTOP)
            with pytest.raises(EngineTimeout, match=r"0\.5 s"):
                await workers.read(slow, PageRequest(1, None, None), None)

    asyncio.run(go())


@pytest.mark.usefixtures("linux")
def test_a_cancelled_page_frees_its_process_at_once(three_pages: Path) -> None:
    async def go() -> None:
        async with Workers.running(OPTIONS) as workers:
            await workers.open(three_pages, None)
            os.kill(workers.pids[0], signal.SIGSTOP)
            drawing = asyncio.ensure_future(workers.draw(task(three_pages), None, "raw"))
            await asyncio.sleep(0.1)
            drawing.cancel()
            async with asyncio.timeout(10):
                await workers.draw(task(three_pages, 3), None, "raw")

    asyncio.run(go())


@pytest.mark.usefixtures("linux")
def test_no_child_outlives_the_run(three_pages: Path) -> None:
    async def go() -> tuple[int, ...]:
        async with Workers.running(OPTIONS) as workers:
            await workers.open(three_pages, None)
            await workers.load(NATIVE)
            return workers.pids

    pids = asyncio.run(go())
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.usefixtures("linux")
def test_memory_beyond_the_limit_fails_in_the_child(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    path = tmp_path / "large.png"
    pillow.new("RGB", (9000, 9000), "white").save(path)

    async def go() -> None:
        async with Workers.running(WorkerOptions(decoders=1, readers=1, decoder_mb=420)) as workers:
            await workers.draw(task(path), Target(), "raw")

    with pytest.raises((RenderCrashed, DamagedDocument)):
        asyncio.run(go())


def test_an_unknown_code_from_a_child_is_a_fault_of_ours() -> None:
    error = error_from("no_such_code", "KeyError: 'x'")
    assert error.code == "internal"
    assert str(error) == "KeyError: 'x'"


def test_every_code_of_ours_comes_back_as_its_own_class() -> None:
    assert type(error_from("password_wrong", "no")).__name__ == "PasswordWrong"
    assert str(error_from("missing_extra", "engine 'x' is not installed")) == "engine 'x' is not installed"


@pytest.mark.usefixtures("linux")
def test_a_file_name_that_is_no_unicode_is_opened(three_pages: Path) -> None:
    odd = three_pages.with_name(os.fsdecode(b"caf\xe9.pdf"))
    three_pages.rename(odd)

    async def go() -> int:
        async with Workers.running(OPTIONS) as workers:
            return len((await workers.open(odd, "p\udce9")).pages)

    assert asyncio.run(go()) == 3
