"""The wiring: settings in, a running App out; the only place where rooms are joined."""

import os
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pageloom.contracts import Availability, EngineFactory, Exporter, ExportOptions, Options, SourceOptions
from pageloom.errors import EngineUnavailable, ExportError, ModelsMissing, SettingsError, UnknownPlugin
from pageloom.model.document import DocumentHead, EngineName, Page, PagedDocument
from pageloom.model.image import Target
from pageloom.model.job import Input, Opened, PageDone, PageTask, RunEvent
from pageloom.model.reading import Ask
from pageloom.pipeline.askers import Asker, Events, LoopAsker, WorkerAsker, unheard
from pageloom.pipeline.choose import AUTO, CPU_ENGINE, Choice, Told, candidates, first_opened, likely
from pageloom.pipeline.ladder import RetryBudget
from pageloom.pipeline.line import Line, read_all
from pageloom.pipeline.page import HowToRead, PageResult, read_page
from pageloom.pipeline.workers import EngineSpec, WorkerOptions, Workers
from pageloom.plugins import load, names
from pageloom.settings import Settings

LOOKAHEAD = 2  # pages drawn ahead of the readers; Little's law with 0.1 s to draw and 1 s to read
TEXT_LAYER = "native"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The engine at work, and why it was chosen."""

    name: str
    reason: str


def made_by() -> str:
    """Pageloom's name and version, as every result records it."""
    from importlib.metadata import version

    return f"pageloom {version('pageloom')}"


class App:
    """A running Pageloom: child processes, an open engine, one way to read documents and one to write them."""

    def __init__(self, settings: Settings, workers: Workers, askers: dict[str, Asker], how: HowToRead) -> None:
        self.settings = settings
        self.workers = workers
        self.engine: EngineName = EngineName(name=how.engine)
        self.engine_reason = ""
        self.places = workers.options.readers + LOOKAHEAD
        self._askers = askers
        self._how = how

    async def run(self, inputs: Iterable[Input], events: Events = unheard) -> AsyncGenerator[RunEvent, None]:
        """Read documents; several are at work at once, pages are told as they end."""

        async def read(task: PageTask) -> PageResult:
            return await read_page(task, self.workers, self._askers, self._how, events)

        async with Line.running(self.workers, read, self.places) as line, aclosing(read_all(line, inputs)) as told:
            async for event in told:
                if isinstance(event, PageDone):
                    self._learn(event)
                yield self._signed(event) if isinstance(event, Opened) else event

    def _learn(self, event: PageDone) -> None:
        """An engine in the children tells its version and model with its first page."""
        engine = event.page.engine if isinstance(event.page, Page) else None
        if engine is not None and engine.name == self.engine.name:
            self.engine = engine

    def _signed(self, event: Opened) -> Opened:
        about = {"engine": self.engine, "engine_reason": self.engine_reason, "made_by": made_by()}
        return Opened(event.input, event.head.model_copy(update=about), event.numbers)


def assemble(document: PagedDocument) -> PagedDocument:
    """Pages put together: running headers marked, heading levels made consistent, cut paragraphs and tables joined."""
    from pageloom.assembly.assemble import assemble as put_together

    together: PagedDocument = put_together(document)
    return together


def exporter(name: str) -> Exporter:
    """The exporter of a format.

    Raises:
        UnknownPlugin: no such format; the message lists all.
    """
    found: Exporter = load("exporters", name)
    return found


def formats() -> tuple[str, ...]:
    """Names of all formats that can be written."""
    return names("exporters")


def write(document: PagedDocument, formats: Sequence[str], stem: Path, options: ExportOptions) -> list[Path]:
    """Write a document beside `stem` (a path without suffix) in several formats, and its crops into `stem.assets/`.

    Every file appears whole. Returns the written paths, documents first.

    Raises:
        UnknownPlugin, ExportError
    """
    options = options.model_copy(update={"assets": f"{stem.name}.assets"})
    written: list[Path] = []
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
        for name in formats:
            for file in exporter(name).export(document, options).files:
                path = stem.with_name(stem.name + file.name)
                _write_whole(path, file.chunks)
                written.append(path)
        written += _write_assets(document, stem.with_name(f"{stem.name}.assets"))
    except OSError as error:
        raise ExportError(f"{stem.name} could not be written: {error.strerror}") from error
    return written


def _write_assets(document: PagedDocument, folder: Path) -> list[Path]:
    written: list[Path] = []
    for page in document.pages:
        for block in page.blocks:
            name = getattr(block, "asset", None)
            data = document.asset(name) if name else None
            if name and data is not None:
                folder.mkdir(exist_ok=True)
                _write_whole(folder / Path(name).name, [data])
                written.append(folder / Path(name).name)
    return written


def _write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A name of its own: 240-byte names leave no room for a suffix.
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with part.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _factory(name: str) -> EngineFactory:
    found: EngineFactory = load("engines", name)
    return found


def _options(settings: Settings, name: str, implied: Mapping[str, Any] | None = None) -> Options:
    """The options of an engine: what its own section says, what its choice implies, what it shares with others."""
    kind = _factory(name).options
    own = dict(settings.engine.options) if settings.engine.name == name else {}
    given: dict[str, Any] = {**(implied or {}), **own}
    shared = {
        "models": settings.models.folder,
        "models_folder": settings.models.folder,
        "languages": settings.read.languages,
        "layout": settings.read.layout,
    }
    given = {**{key: value for key, value in shared.items() if key in kind.model_fields}, **given}
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"setting engine.options.{where} of engine {name!r}: {first['msg']}") from error


def availability(settings: Settings, name: str, implied: Mapping[str, Any] | None = None) -> Availability:
    """Whether an engine works here, with the reason and the fix; loads nothing heavy."""
    try:
        return _factory(name).available(_options(settings, name, implied))
    except (UnknownPlugin, ImportError) as error:
        return Availability(works=False, reason=str(error))


def _told(settings: Settings) -> Told:
    engine = settings.engine
    return Told(engine.name, engine.vllm, engine.servers, engine.model)


def _available(settings: Settings) -> Callable[[Choice], Availability]:
    return lambda choice: availability(settings, choice.name, choice.options)


def choose(settings: Settings) -> Chosen:
    """The engine that will probably read pixels, and why; opens none.

    Raises:
        UnknownPlugin: the named engine is not installed.
        ModelsMissing, EngineUnavailable: it cannot work here; the message tells the fix.
    """
    wanted = settings.engine.name
    if wanted != AUTO and wanted not in names("engines"):
        raise UnknownPlugin(f"no engine named {wanted!r}; installed: {AUTO}, {', '.join(names('engines'))}")
    choices = candidates(_told(settings))
    try:
        found = likely(choices, _available(settings))
    except EngineUnavailable as error:
        if choices[-1].name == CPU_ENGINE:
            raise ModelsMissing(str(error)) from error
        raise
    return Chosen(found.name, found.reason)


def _worker_options(settings: Settings) -> WorkerOptions:
    cores = max(1, os.cpu_count() or 1)
    limits = settings.limits
    return WorkerOptions(
        decoders=settings.workers.decode or max(1, min(4, cores)),
        readers=settings.workers.read or cores,
        draw_seconds=limits.draw_seconds,
        decoder_mb=limits.worker_memory_mb,
        source=SourceOptions(
            max_bytes=int(limits.max_megabytes * 1_000_000),
            max_pages=limits.max_pages,
            max_pixels=int(limits.max_megapixels * 1_000_000),
            pdf_backend=settings.pdf.backend,
        ),
    )


def _spec(settings: Settings, name: str) -> EngineSpec:
    return EngineSpec(name, _options(settings, name).model_dump(mode="json"), _factory(name).timeout_s)


def _how(settings: Settings, name: str) -> HowToRead:
    factory = _factory(name)
    auto = settings.engine.name == "auto"
    text_only = name == TEXT_LAYER
    ask = Ask(settings.read.task, settings.read.words)
    printed = ask.task in {"markdown", "text"}
    if not printed and factory.runs == "worker":
        raise SettingsError(f"engine {name!r} does not know the task {ask.task!r}: only a language model does")
    target = factory.target
    if "dpi" in settings.read.model_fields_set:
        target = Target(settings.read.dpi, target.longest_px, target.shortest_px)
    return HowToRead(
        engine=name,
        native=TEXT_LAYER if printed and (auto or text_only) else None,
        target=target,
        form=factory.image_form,
        text_only=_text_only_spec(settings) if text_only else None,
        ask=ask,
        languages=settings.read.languages,
        attempts=settings.read.attempts,
        retries=RetryBudget(),
    )


def _text_only_spec(settings: Settings) -> EngineSpec:
    """The text layer by rules alone: no model is loaded and no pixel drawn."""
    spec = _spec(settings, TEXT_LAYER)
    return EngineSpec(spec.name, {**spec.options, "layout": "rules"}, spec.timeout_s)


@asynccontextmanager
async def _open_engine(settings: Settings, workers: Workers, choice: Choice) -> AsyncIterator[Asker]:
    """One engine, opened as its factory wants: on this loop, or later in the children that will need it."""
    factory = _factory(choice.name)
    if factory.runs == "worker":
        found = availability(settings, choice.name, choice.options)
        if not found.works:
            kind = ModelsMissing if choice.name == CPU_ENGINE else EngineUnavailable
            raise kind(f"engine {choice.name!r}: {found.reason}" + (f"; {found.fix}" if found.fix else ""))
        yield WorkerAsker(EngineName(name=choice.name), workers, _spec(settings, choice.name))
        return
    async with factory.open(_options(settings, choice.name, choice.options)) as engine:
        yield LoopAsker(engine)


def _helpers(settings: Settings, workers: Workers, how: HowToRead, first: Asker) -> dict[str, Asker]:
    """Engines beside the chosen one: the text layer's, and the CPU engine for pages that a model cannot read."""
    wanted = {how.native} if how.native else set()
    if isinstance(first, LoopAsker) and availability(settings, CPU_ENGINE).works:
        wanted.add(CPU_ENGINE)
    return {
        name: WorkerAsker(EngineName(name=name), workers, _spec(settings, name))
        for name in wanted
        if name != how.engine
    }


@asynccontextmanager
async def open_app(settings: Settings) -> AsyncIterator[App]:
    """A running App; its processes and its engine end with the block.

    Raises:
        SettingsError, UnknownPlugin, MissingExtra, ModelsMissing, EngineUnavailable
    """
    choose(settings)  # names what is missing before any process is started
    async with AsyncExitStack() as stack:
        workers = await stack.enter_async_context(Workers.running(_worker_options(settings)))
        settled, asker = await stack.enter_async_context(
            first_opened(
                candidates(_told(settings)),
                _available(settings),
                lambda choice: _open_engine(settings, workers, choice),
            )
        )
        how = _how(settings, settled.name)
        askers: dict[str, Asker] = {settled.name: asker, **_helpers(settings, workers, how, asker)}
        if isinstance(asker, WorkerAsker) and how.text_only is None:
            workers.warm(_spec(settings, settled.name))
        app = App(settings, workers, askers, how)
        app.engine, app.engine_reason = asker.name, settled.reason
        if isinstance(asker, LoopAsker):
            app.places = asker.capacity + LOOKAHEAD
        yield app


__all__ = [
    "App",
    "Chosen",
    "DocumentHead",
    "assemble",
    "availability",
    "choose",
    "exporter",
    "formats",
    "open_app",
    "write",
]
