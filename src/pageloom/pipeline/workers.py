"""Child processes with memory, CPU and wall limits: whatever a file does to its decoder costs one attempt, not the run.

Two pools of the same program: decoders open and draw (small, tightly bounded), readers keep a worker engine loaded.
Our own `-m` entry instead of `multiprocessing`, whose spawn runs an unguarded `__main__` script again in the child.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

import pageloom.errors as errors_module
from pageloom.contracts import SourceOptions
from pageloom.errors import DamagedDocument, EngineDead, EngineTimeout, PageloomError, RenderCrashed, RenderTimeout
from pageloom.model.document import EngineName, Reason
from pageloom.model.geometry import Box
from pageloom.model.image import DrawnPage, PageInfo, Target
from pageloom.model.job import PageTask
from pageloom.model.reading import PageRequest, Reading
from pageloom.pipeline import wire
from pageloom.pipeline.tidy import Cut
from pageloom.pipeline.wire import HEAD, MAX_BLOB, MAX_HEAD, SIZE, Drawn, Frame, PassingImage

START_SECONDS = 60.0  # a first start on a cold disk reads some 150 MB of libraries
RECYCLE_AFTER = 500  # pages; decoders of every kind fragment their heap over time
RECYCLE_DECODER_MB = 600.0


def _tree(root: type[PageloomError]) -> dict[str, type[PageloomError]]:
    found = {root.code: root}
    for below in root.__subclasses__():
        found.update(_tree(below))
    return found


class InternalFault(PageloomError):
    """A library or we ourselves failed on this page; the text says how."""

    code = "internal"


def error_from(code: str, text: str) -> PageloomError:
    """The error that a child process reports, as one of ours."""
    kind = {**_tree(errors_module.PageloomError), "internal": InternalFault}.get(code, InternalFault)
    made: PageloomError = Exception.__new__(
        kind
    )  # MissingExtra builds its text from two words; here it is there already
    made.args = (text,)
    return made


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How many children there are and what each may use.

    Attributes:
        decoders, readers: processes at most; they are started when first needed.
        draw_seconds: wall and CPU seconds to open a document or draw a page.
        decoder_mb, reader_mb: address space of one process, MiB. A reader maps models and thread stacks: its
            resident memory is some 0.6 GiB of that.
        source: limits and back end of the sources.
    """

    decoders: int
    readers: int
    draw_seconds: float = 25.0
    decoder_mb: int = 2048
    reader_mb: int = 6144
    source: SourceOptions = SourceOptions()


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """A worker engine as the children load it: plugin name, its options as JSON, its time limit in seconds."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    timeout_s: float = 120.0


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that can be read: its real pages, remarks, media type, and the sha256 of its bytes (hex)."""

    pages: tuple[PageInfo, ...]
    remarks: tuple[Reason, ...]
    media_type: str
    sha256: str


class _Process:
    """One child process; it answers one frame at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.asked = 0
        self.resident_mb = 0.0

    @classmethod
    async def start(cls, memory_mb: int) -> "_Process":
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "pageloom.pipeline.child",
            str(memory_mb),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=1 << 22,
        )
        child = cls(process)
        try:
            await child._answer(START_SECONDS)  # it greets when its libraries are loaded: no file pays for that
        except (TimeoutError, EOFError) as error:
            await child.end()
            raise EngineDead(f"a child process could not be started: {error}") from error
        except asyncio.CancelledError:
            await asyncio.shield(child.end())
            raise
        return child

    async def ask(self, frame: Frame, seconds: float) -> Frame:
        """Send a frame and wait for its answer.

        Raises:
            TimeoutError: no answer in time.
            EOFError: the process died; the text says how.
        """
        self.asked += 1
        stdin = self._process.stdin
        if stdin is None:
            raise EOFError("has no pipes")
        try:
            stdin.writelines(wire.packed(frame))
            async with asyncio.timeout(seconds):
                await stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise EOFError(await self._how_it_died()) from error
        return await self._answer(seconds)

    async def _answer(self, seconds: float) -> Frame:
        stdout = self._process.stdout
        if stdout is None:
            raise EOFError("has no pipes")
        async with asyncio.timeout(seconds):
            try:
                length, count = HEAD.unpack(await stdout.readexactly(HEAD.size))
                sizes = [SIZE.unpack(await stdout.readexactly(SIZE.size))[0] for _ in range(count)]
                if length > MAX_HEAD or any(size > MAX_BLOB for size in sizes):
                    raise EOFError("sent nonsense")
                head = orjson.loads(await stdout.readexactly(length))
                blobs = [await stdout.readexactly(size) for size in sizes]
            except (asyncio.IncompleteReadError, ConnectionResetError) as error:
                raise EOFError(await self._how_it_died()) from error
        self.resident_mb = float(head.pop("resident_mb", 0.0))
        return Frame(head, tuple(blobs))

    async def _how_it_died(self) -> str:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), 5)
        code = self._process.returncode
        if code is None:
            return "stopped answering"
        if code >= 0:
            return f"ended with exit code {code}"
        name = signal.Signals(-code).name if -code in signal.valid_signals() else f"signal {-code}"
        return "used up its CPU seconds" if name == "SIGXCPU" else f"was ended by {name}"

    async def end(self) -> None:
        """End the process, now."""
        with suppress(ProcessLookupError):
            self._process.kill()
        with suppress(ProcessLookupError):
            await self._process.wait()

    @property
    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.returncode is None


class _Pool:
    """Up to `size` processes of one kind, started when first needed, replaced when they die."""

    def __init__(self, size: int, memory_mb: int, recycle_mb: float | None) -> None:
        self.size = size
        self._memory_mb = memory_mb
        self._recycle_mb = recycle_mb
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()
        self._free = asyncio.Semaphore(size)

    @asynccontextmanager
    async def process(self) -> AsyncIterator[_Process]:
        """One process for one task; a fault or a cancelled task ends it, since it may still be at work."""
        async with self._free:
            process = self._idle.pop() if self._idle else await _Process.start(self._memory_mb)
            self._all.add(process)
            healthy = False
            try:
                yield process
                healthy = True
            finally:
                worn = process.asked >= RECYCLE_AFTER or process.resident_mb > (self._recycle_mb or float("inf"))
                if healthy and process.alive and not worn:
                    self._idle.append(process)
                else:
                    self._all.discard(process)
                    await asyncio.shield(process.end())

    async def close(self) -> None:
        """End all processes."""
        for process in list(self._all):
            await process.end()
        self._all.clear()
        self._idle.clear()

    @property
    def pids(self) -> tuple[int, ...]:
        """Ids of the living processes."""
        return tuple(process._process.pid for process in self._all if process.alive)  # noqa: SLF001 - same module


class Workers:
    """Everything that is done in child processes."""

    def __init__(self, options: WorkerOptions) -> None:
        self.options = options
        self._decoders = _Pool(options.decoders, options.decoder_mb, RECYCLE_DECODER_MB)
        self._readers = _Pool(options.readers, options.reader_mb, None)
        self._warming: set[asyncio.Task[EngineName]] = set()

    @classmethod
    @asynccontextmanager
    async def running(cls, options: WorkerOptions) -> AsyncIterator["Workers"]:
        """Workers whose processes end with this block."""
        workers = cls(options)
        try:
            yield workers
        finally:
            await asyncio.shield(workers.close())

    async def close(self) -> None:
        """End all child processes."""
        warming = list(self._warming)
        for task in warming:
            task.cancel()
        await asyncio.gather(*warming, return_exceptions=True)
        await self._decoders.close()
        await self._readers.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of all children, for those who measure memory."""
        return self._decoders.pids + self._readers.pids

    async def _ask(self, pool: _Pool, frame: Frame, seconds: float) -> Frame:
        frame.head["cpu_s"] = seconds
        async with pool.process() as process:
            answer = await process.ask(frame, seconds)
        error = answer.head.get("error")
        if error:
            raise error_from(str(error["code"]), str(error["text"]))
        return answer

    async def _decode(self, frame: Frame, doing: str) -> Frame:
        seconds = self.options.draw_seconds
        try:
            return await self._ask(self._decoders, frame, seconds)
        except TimeoutError as error:
            raise RenderTimeout(f"{doing} took longer than {seconds:g} s") from error
        except EOFError as error:
            raise RenderCrashed(f"{doing}: the decoding process {error}") from error

    async def _read(self, frame: Frame, spec: EngineSpec) -> Frame:
        frame.head.update({"engine": spec.name, "engine_options": spec.options})
        try:
            return await self._ask(self._readers, frame, spec.timeout_s)
        except TimeoutError as error:
            raise EngineTimeout(f"engine {spec.name!r} took longer than {spec.timeout_s:g} s") from error
        except EOFError as error:
            raise EngineDead(f"engine {spec.name!r}: its process {error}") from error

    def _where(self, file: Path, password: str | None) -> dict[str, Any]:
        # Names and passwords are bytes to the system: whatever they hold must pass through JSON.
        return {
            "path": wire.as_text(file),
            "password": password and wire.as_text(password),
            "options": self.options.source.model_dump(mode="json"),
        }

    async def open(self, file: Path, password: str | None) -> OpenedFile:
        """Open a document: its kind, its real pages, remarks.

        Raises:
            UnsupportedFormat, DamagedDocument, EmptyDocument, PasswordRequired, PasswordWrong, DocumentTooLarge,
            RenderTimeout, RenderCrashed
        """
        answer = await self._decode(Frame({"do": "open", **self._where(file, password)}), "opening the document")
        infos, remarks = wire.opened_from(answer.head)
        return OpenedFile(infos, remarks, str(answer.head["media_type"]), str(answer.head["sha256"]))

    async def draw(self, task: PageTask, target: Target | None, form: str) -> Drawn:
        """Draw a page, judge its pixels, read its text layer.

        Raises:
            DamagedDocument, DocumentTooLarge, RenderTimeout, RenderCrashed
        """
        head = {
            "do": "draw",
            **self._where(task.file, task.password),
            "number": task.file_page,
            "target": wire.target_json(target),
            "form": form,
        }
        return wire.drawn_from(await self._decode(Frame(head), f"drawing page {task.number}"))

    def warm(self, spec: EngineSpec) -> None:
        """Start loading a worker engine while the first page is being drawn; a fault shows at the first read."""
        task = asyncio.create_task(self.load(spec))
        self._warming.add(task)
        task.add_done_callback(self._warmed)

    def _warmed(self, task: asyncio.Task[EngineName]) -> None:
        self._warming.discard(task)
        if not task.cancelled():
            task.exception()  # looked at here, told at the first read

    async def load(self, spec: EngineSpec) -> EngineName:
        """Load a worker engine in one reader ahead of the first page.

        Raises:
            ModelsMissing, MissingExtra, EngineDead, EngineTimeout
        """
        answer = await self._read(Frame({"do": "load"}), spec)
        return EngineName.model_validate(answer.head["engine"])

    async def read(self, spec: EngineSpec, request: PageRequest, passing: PassingImage | None) -> Reading:
        """Read a drawn page with a worker engine.

        Raises:
            LanguageUnsupported, UnreadablePage, EngineTimeout, EngineDead
        """
        frame = wire.request_frame(request, passing)
        frame.head["do"] = "read"
        return wire.reading_from(await self._read(frame, spec))

    async def draw_and_read(
        self, task: PageTask, spec: EngineSpec, languages: Sequence[str]
    ) -> tuple[DrawnPage, Reading]:
        """Read a page's text layer in one trip to a decoder; no pixels are drawn.

        Raises:
            DamagedDocument, RenderTimeout, RenderCrashed
        """
        head = {
            "do": "draw_read",
            **self._where(task.file, task.password),
            "number": task.file_page,
            "target": None,
            "form": "raw",
            "engine": spec.name,
            "engine_options": spec.options,
            "languages": list(languages),
        }
        answer = await self._decode(Frame(head), f"reading page {task.number}")
        drawn = wire.drawn_from(Frame(answer.head["drawn"]))
        return drawn.page, wire.reading_from(answer)

    async def crop(self, task: PageTask, target: Target, boxes: Sequence[Box]) -> tuple[Cut, ...]:
        """Pictures of regions of a page, drawn again for it: suffix and bytes of each.

        Raises:
            DamagedDocument, RenderTimeout, RenderCrashed
        """
        head = {
            "do": "crop",
            **self._where(task.file, task.password),
            "number": task.file_page,
            "target": wire.target_json(target),
            "form": "raw",
            "boxes": [[box.x0, box.y0, box.x1, box.y1] for box in boxes],
        }
        answer = await self._decode(Frame(head), f"cutting pictures out of page {task.number}")
        if len(answer.blobs) != len(boxes):
            raise DamagedDocument(f"page {task.number}: its pictures could not be cut out")
        suffixes = [str(suffix) for suffix in answer.head["suffixes"]]
        return tuple((suffix, bytes(blob)) for suffix, blob in zip(suffixes, answer.blobs, strict=True))
