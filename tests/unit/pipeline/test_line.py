"""The line: a bounded number of pages alive, every result told once, cancelled work gone."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from pageloom.errors import DamagedDocument
from pageloom.model.document import Page
from pageloom.model.geometry import PageSize
from pageloom.model.image import PageInfo
from pageloom.model.job import Input, PageTask
from pageloom.pipeline.line import Line, Part, numbered_pages
from pageloom.pipeline.page import PageResult
from pageloom.pipeline.workers import OpenedFile, WorkerOptions, Workers

SIZE = PageSize(595, 842)
WORKERS = WorkerOptions(decoders=1, readers=1)


def tasks(job: str, count: int) -> list[PageTask]:
    return [PageTask(job, n, Path("x"), n, SIZE) for n in range(1, count + 1)]


class Reader:
    """Reads pages in no time, and remembers how many were alive at once."""

    def __init__(self) -> None:
        self.alive = 0
        self.most = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, task: PageTask) -> PageResult:
        self.alive += 1
        self.most = max(self.most, self.alive)
        try:
            await asyncio.sleep(0)
            await self.gate.wait()
        finally:
            self.alive -= 1
        return PageResult(Page(number=task.number, size=SIZE))


def test_no_more_pages_are_alive_than_there_are_places() -> None:
    async def go() -> tuple[int, Counter[str]]:
        reader, told = Reader(), Counter[str]()
        done = asyncio.Event()

        async def tell(task: PageTask, result: PageResult) -> None:
            told[f"{task.job}{result.page.number}"] += 1
            if told.total() == 60:
                done.set()

        async with Line.running(Workers(WORKERS), reader, places=3) as line:
            for job in "abc":
                line.submit(job, "me", tasks(job, 20), tell)
            await asyncio.wait_for(done.wait(), 5)
        return reader.most, told

    most, told = asyncio.run(go())
    assert most == 3
    assert set(told.values()) == {1}
    assert len(told) == 60


def test_a_slow_listener_slows_the_line_instead_of_filling_memory() -> None:
    async def go() -> int:
        reader, taken = Reader(), asyncio.Semaphore(0)
        finished = 0

        async def tell(task: PageTask, result: PageResult) -> None:
            nonlocal finished
            finished += 1
            await taken.acquire()

        async with Line.running(Workers(WORKERS), reader, places=2) as line:
            line.submit("a", "me", tasks("a", 50), tell)
            for _ in range(50):
                await asyncio.sleep(0)
            return finished

    assert asyncio.run(go()) == 2


def test_a_cancelled_job_frees_its_places_for_the_others() -> None:
    async def go() -> list[str]:
        reader, told = Reader(), list[str]()
        reader.gate.clear()
        done = asyncio.Event()

        async def tell(task: PageTask, result: PageResult) -> None:
            told.append(f"{task.job}{task.number}")
            if len(told) == 3:
                done.set()

        async with Line.running(Workers(WORKERS), reader, places=2) as line:
            line.submit("gone", "me", tasks("gone", 9), tell)
            await asyncio.sleep(0.01)
            line.submit("kept", "me", tasks("kept", 3), tell)
            await line.cancel("gone")
            reader.gate.set()
            await asyncio.wait_for(done.wait(), 5)
            assert line.busy == 0 or reader.alive <= 2
        return told

    assert sorted(asyncio.run(go())) == ["kept1", "kept2", "kept3"]


def test_a_failing_listener_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    async def go() -> int:
        reader, count = Reader(), 0
        done = asyncio.Event()

        async def broken(task: PageTask, result: PageResult) -> None:
            raise RuntimeError("listener")

        async def tell(task: PageTask, result: PageResult) -> None:
            nonlocal count
            count += 1
            if count == 4:
                done.set()

        async with Line.running(Workers(WORKERS), reader, places=1) as line:
            line.submit("a", "me", tasks("a", 2), broken)
            line.submit("b", "me", tasks("b", 4), tell)
            await asyncio.wait_for(done.wait(), 5)
        return count

    assert asyncio.run(go()) == 4
    assert "listener" in caplog.text


def test_pages_of_a_joined_document_are_counted_through_and_a_bad_file_keeps_its_place() -> None:
    def opened(count: int) -> OpenedFile:
        return OpenedFile(tuple(PageInfo(n, SIZE) for n in range(1, count + 1)), (), "application/pdf", "00")

    parts = [
        Part(Path("a.pdf"), opened(2)),
        Part(Path("bad.pdf"), None, DamagedDocument("no page can be found")),
        Part(Path("c.pdf"), opened(1)),
    ]
    pages, lost = numbered_pages(Input((Path("a.pdf"), Path("bad.pdf"), Path("c.pdf")), "all"), parts)
    assert [(task.number, task.file.name, task.file_page) for task in pages] == [
        (1, "a.pdf", 1),
        (2, "a.pdf", 2),
        (4, "c.pdf", 1),
    ]
    assert [(page.number, page.code, page.reason) for page in lost] == [
        (3, "damaged_document", "bad.pdf: no page can be found")
    ]
