"""The line: pages of all documents, a bounded number of them alive at once, results told as they come."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from pageloom.errors import InputError, PageError, PageloomError
from pageloom.model.document import DocumentHead, FailedPage, Reason
from pageloom.model.job import Finished, Input, Opened, PageDone, PageTask, Refused, RunEvent
from pageloom.pipeline.page import PageResult
from pageloom.pipeline.queue import PageQueue
from pageloom.pipeline.workers import OpenedFile, Workers

log = logging.getLogger(__name__)

ReadPage = Callable[[PageTask], Awaitable[PageResult]]
Told = Callable[[PageTask, PageResult], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a document: opened, or refused with its error."""

    file: Path
    opened: OpenedFile | None
    error: PageloomError | None = None


@dataclass(frozen=True, slots=True)
class OpenedInput:
    """A document that can be read: what is known of it, its pages to read, and pages that are lost already."""

    head: DocumentHead
    tasks: tuple[PageTask, ...]
    lost: tuple[FailedPage, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of all its pages, ascending."""
        return tuple(sorted([task.number for task in self.tasks] + [page.number for page in self.lost]))


@dataclass(slots=True)
class _Job:
    """One submitted document on the line."""

    told: Told
    tasks: set[asyncio.Task[None]] = field(default_factory=set)


class Line:
    """Takes pages from the queue into a bounded number of places; the rest wait as numbers, not as pixels.

    A page keeps its place until its result has been taken, so a slow listener slows the line down instead of
    filling the memory.

    Args:
        places: pages alive at once; may be changed at any time.
    """

    def __init__(self, workers: Workers, read: ReadPage, places: int, queue: PageQueue | None = None) -> None:
        self.places = places
        self.queue = queue if queue is not None else PageQueue()
        self._workers = workers
        self._read = read
        self._busy = 0
        self._jobs: dict[str, _Job] = {}
        self._moved = asyncio.Event()

    @property
    def busy(self) -> int:
        """Places taken now."""
        return self._busy

    @classmethod
    @asynccontextmanager
    async def running(cls, workers: Workers, read: ReadPage, places: int) -> AsyncIterator["Line"]:
        """A line whose pages end with this block."""
        line = cls(workers, read, places)
        try:
            yield line
        finally:
            await line.close()

    async def open(self, asked: Input) -> OpenedInput:
        """Open all files of a document.

        Raises:
            InputError, PageError: no file of it can be read, or a page range names pages that it lacks.
        """
        parts = [await self._part(file, asked.password) for file in asked.files]
        errors = [part.error for part in parts if part.error is not None]
        if len(errors) == len(parts):
            raise errors[0]
        tasks, lost = numbered_pages(asked, parts)
        if asked.pages is not None:
            wanted = set(asked.pages.of(len(tasks) + len(lost)))
            tasks = [task for task in tasks if task.number in wanted]
            lost = [page for page in lost if page.number in wanted]
        return OpenedInput(head_of(asked, parts), tuple(tasks), tuple(lost))

    async def _part(self, file: Path, password: str | None) -> Part:
        try:
            return Part(file, await self._workers.open(file, password))
        except (InputError, PageError) as error:
            return Part(file, None, error)

    def submit(self, job: str, tenant: str, tasks: Sequence[PageTask], told: Told) -> None:
        """Let the pages of a job wait for their places; `told` takes each result as it comes.

        Raises:
            QueueFull: none of them is taken.
        """
        self.queue.add(job, tenant, tasks, time.monotonic())
        self._jobs[job] = _Job(told)
        self._fill()

    def _fill(self) -> None:
        while self._busy < self.places and (task := self.queue.pop()) is not None:
            job = self._jobs[task.job]
            self._busy += 1
            running = asyncio.create_task(self._one(job, task))
            job.tasks.add(running)
            running.add_done_callback(partial(self._ended, task.job, job))

    async def _one(self, job: _Job, task: PageTask) -> None:
        await job.told(task, await self._read(task))

    def _ended(self, name: str, job: _Job, running: asyncio.Task[None]) -> None:
        self._busy -= 1
        job.tasks.discard(running)
        if not job.tasks and self.queue.waiting(name) == 0:
            self._jobs.pop(name, None)
        if not running.cancelled() and (error := running.exception()) is not None:
            log.error("a page's listener failed", extra={"job": name}, exc_info=error)
        self._moved.set()
        self._fill()

    async def has_room(self, waiting: int) -> None:
        """Wait until no more than this many pages wait for a place."""
        while len(self.queue) > waiting:
            self._moved.clear()
            await self._moved.wait()

    async def cancel(self, job: str) -> None:
        """Forget the waiting pages of a job and end those in work; their engine slots are free when this returns."""
        self.queue.remove(job)
        held = self._jobs.pop(job, None)
        if held is not None:
            await _end(held.tasks)
        self._moved.set()

    async def close(self) -> None:
        """End all work."""
        for job in list(self._jobs):
            await self.cancel(job)


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    several = list(tasks)
    for task in several:
        task.cancel()
    await asyncio.gather(*several, return_exceptions=True)


async def read_all(line: Line, inputs: Iterable[Input]) -> AsyncGenerator[RunEvent, None]:
    """Read documents one after the other as places fall free; events as they come.

    A next document is opened when the pages of those before it no longer fill the line: a folder of thousands of
    files is never open at once.
    """
    events: asyncio.Queue[RunEvent | BaseException | None] = asyncio.Queue(maxsize=2 * line.places)
    jobs: list[str] = []

    async def feed() -> None:
        try:
            run = secrets.token_hex(4)
            ends = [await _take(line, asked, f"{run}-{place}", events, jobs) for place, asked in enumerate(inputs)]
            for end in ends:
                await end.wait()
        except Exception as error:  # noqa: BLE001 - a bug of ours: told to the one who listens, never lost
            await events.put(error)
        else:
            await events.put(None)

    feeding = asyncio.create_task(feed())
    try:
        while (event := await events.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        await _end([feeding])
        for job in jobs:
            await line.cancel(job)


async def _take(
    line: Line,
    asked: Input,
    job: str,
    events: "asyncio.Queue[RunEvent | BaseException | None]",
    jobs: list[str],
) -> asyncio.Event:
    """Open one document and let its pages wait; the event is set when its last page has ended."""
    ended = asyncio.Event()
    try:
        opened = await line.open(asked)
    except (InputError, PageError) as error:
        await events.put(Refused(asked, error))
        ended.set()
        return ended
    await events.put(Opened(asked, opened.head, opened.numbers))
    for page in opened.lost:
        await events.put(PageDone(asked, page, {}))
    todo = [replace(task, job=job) for task in opened.tasks if task.number not in asked.skip]
    left = len(todo)

    async def told(task: PageTask, result: PageResult) -> None:
        nonlocal left
        del task
        await events.put(PageDone(asked, result.page, result.assets))
        left -= 1
        if left == 0:
            await events.put(Finished(asked))
            ended.set()

    if not todo:
        await events.put(Finished(asked))
        ended.set()
        return ended
    jobs.append(job)
    line.submit(job, "local", todo, told)
    await line.has_room(line.places)
    return ended


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
