"""The line: documents opened one after the other, a bounded number of pages alive, results told as they come."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pageloom.errors import InputError, PageError, PageloomError
from pageloom.model.document import DocumentHead, FailedPage, Reason
from pageloom.model.job import Finished, Input, Opened, PageDone, PageTask, Refused, RunEvent
from pageloom.pipeline.page import PageResult
from pageloom.pipeline.workers import OpenedFile, Workers

ReadPage = Callable[[PageTask], Awaitable[PageResult]]


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a document: opened, or refused with its error."""

    file: Path
    opened: OpenedFile | None
    error: PageloomError | None = None


class Line:
    """Keeps at most `places` pages alive; the rest wait as numbers, not as pixels."""

    def __init__(self, workers: Workers, read: ReadPage, places: int) -> None:
        self._workers = workers
        self._read = read
        self._places = asyncio.Semaphore(places)
        self._events: asyncio.Queue[RunEvent | BaseException | None] = asyncio.Queue(maxsize=places * 2)
        self._tasks: set[asyncio.Task[None]] = set()
        self._left: dict[int, int] = {}

    async def _feed(self, inputs: Iterable[Input]) -> None:
        try:
            for number, asked in enumerate(inputs):
                await self._take(number, asked)
            await asyncio.gather(*self._tasks)
        except Exception as error:  # noqa: BLE001 - a bug of ours: told to the one who listens, never lost
            await self._events.put(error)
        else:
            await self._events.put(None)

    async def _take(self, number: int, asked: Input) -> None:
        parts = [await self._open(file, asked.password) for file in asked.files]
        errors = [part.error for part in parts if part.error is not None]
        if len(errors) == len(parts):
            await self._events.put(Refused(asked, errors[0]))
            return
        tasks, lost = numbered_pages(asked, parts)
        try:
            wanted = asked.pages.of(len(tasks) + len(lost)) if asked.pages else None
        except InputError as error:
            await self._events.put(Refused(asked, error))
            return
        tasks = [task for task in tasks if wanted is None or task.number in wanted]
        lost = [page for page in lost if wanted is None or page.number in wanted]
        numbers = tuple(sorted([task.number for task in tasks] + [page.number for page in lost]))
        await self._events.put(Opened(asked, head_of(asked, parts), numbers))
        todo = [task for task in tasks if task.number not in asked.skip]
        self._left[number] = len(todo) + 1
        for page in lost:
            await self._events.put(PageDone(asked, page, {}))
        for task in todo:
            await self._places.acquire()
            self._start(self._page(number, asked, task))
        await self._one_less(number, asked)

    async def _open(self, file: Path, password: str | None) -> Part:
        try:
            return Part(file, await self._workers.open(file, password))
        except (InputError, PageError) as error:
            return Part(file, None, error)

    def _start(self, work: Awaitable[None]) -> None:
        async def run() -> None:
            await work

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is None:
            self._tasks.discard(task)  # a failed one stays, so that _feed raises what it raised

    async def _page(self, number: int, asked: Input, task: PageTask) -> None:
        try:
            result = await self._read(task)
        finally:
            self._places.release()
        await self._events.put(PageDone(asked, result.page, result.assets))
        await self._one_less(number, asked)

    async def _one_less(self, number: int, asked: Input) -> None:
        self._left[number] -= 1
        if self._left[number] == 0:
            del self._left[number]
            await self._events.put(Finished(asked))

    @asynccontextmanager
    async def running(self, inputs: Iterable[Input]) -> AsyncIterator[AsyncIterator[RunEvent]]:
        """Events of these inputs; leaving the block ends all work on them."""
        feeder = asyncio.create_task(self._feed(inputs))
        try:
            yield self._told()
        finally:
            feeder.cancel()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(feeder, *self._tasks, return_exceptions=True)

    async def _told(self) -> AsyncIterator[RunEvent]:
        while (event := await self._events.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event


def numbered_pages(asked: Input, parts: Iterable[Part]) -> tuple[list[PageTask], list[FailedPage]]:
    """Pages of all files of a document, counted through; a refused file keeps its place as one failed page."""
    tasks: list[PageTask] = []
    lost: list[FailedPage] = []
    for part in parts:
        number = len(tasks) + len(lost) + 1
        if part.opened is None:
            error = part.error
            code, why = (error.code, str(error)) if error else ("internal", "could not be opened")
            lost.append(FailedPage(number=number, code=code, reason=f"{part.file.name}: {why}"))
            continue
        tasks.extend(
            PageTask(
                job=asked.key or asked.name,
                number=number + place,
                file=part.file,
                file_page=info.number,
                size=info.size,
                password=asked.password,
            )
            for place, info in enumerate(part.opened.pages)
        )
    return tasks, lost


def head_of(asked: Input, parts: list[Part]) -> DocumentHead:
    """What is known of a document before its pages are read."""
    opened = [part.opened for part in parts if part.opened]
    joined = len(parts) > 1
    remarks: list[Reason] = []
    for part in parts:
        before = f"{part.file.name}: " if joined else ""
        if part.opened:
            remarks += [Reason(code=r.code, text=before + r.text) for r in part.opened.remarks]
        elif part.error:
            remarks.append(Reason(code=part.error.code, text=f"{before}{part.error}"))
    digest = opened[0].sha256 if not joined else sha256("".join(o.sha256 for o in opened).encode()).hexdigest()
    lost = len(parts) - len(opened)
    return DocumentHead(
        name=asked.name,
        media_type=opened[0].media_type if not joined else "",
        sha256=digest,
        page_count=sum(len(o.pages) for o in opened) + lost,
        warnings=tuple(remarks),
    )
