"""The doors for plugins: the only file a plugin author reads.

A plugin is an entry point in one of the groups `pageloom.sources`, `pageloom.engines`, `pageloom.exporters`
that names a factory (sources, engines) or an exporter object. It is loaded only when settings or a command name it.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, get_origin, runtime_checkable

from pydantic import BaseModel, ConfigDict, model_validator

from pageloom.model.document import EngineName, PagedDocument, Reason
from pageloom.model.extraction import Extraction
from pageloom.model.geometry import Box
from pageloom.model.image import DrawnPage, PageImage, PageInfo, Target
from pageloom.model.reading import Ask, BlockEvent, Decoding, Delta, PageRequest, Reading


class Options(BaseModel):
    """Base of every room's own small options object: frozen, and a misspelt option is an error.

    Lists may be written `zh,en`: variables and the command line have no other way.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _split_lists(cls, values: Any) -> Any:  # noqa: ANN401 - whatever a file or a variable holds
        if not isinstance(values, Mapping):
            return values
        return {name: _split(value) if cls._is_list(name) else value for name, value in values.items()}

    @classmethod
    def _is_list(cls, name: str) -> bool:
        field = cls.model_fields.get(name)
        return field is not None and get_origin(field.annotation) is tuple


def _split(value: object) -> object:
    if not isinstance(value, str):
        return value
    return [word.strip() for word in value.split(",") if word.strip()]


# --- sources: sync, used inside a child process, one document at a time -------------------------------------------


class SourceOptions(Options):
    """Limits at the door, and how PDFs are opened (the numbers are the defaults of `settings.Limits`)."""

    max_bytes: int = 200 * 1000 * 1000
    max_pages: int = 10_000
    max_pixels: int = 100_000_000
    pdf_backend: Literal["pdfium", "pdfplumber", "pymupdf"] = "pdfium"


class PageSource(Protocol):
    """An open document.

    Attributes:
        pages: numbers and sizes of the real pages.
        remarks: e.g. that the file was repaired, that it carries an owner password.
    """

    pages: Sequence[PageInfo]
    remarks: Sequence[Reason]

    def draw(self, number: int, target: Target | None) -> DrawnPage:
        """Draw a page and read its text layer.

        Args:
            number: from 1.
            target: pixels wanted, never a bare dpi; None = only the text layer.

        Raises:
            DamagedDocument: this page cannot be drawn.
            DocumentTooLarge: the page holds more pixels than `max_pixels`.
        """
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


class SourceFactory(Protocol):
    """Opens files of some media types."""

    media_types: ClassVar[frozenset[str]]

    def open(self, path: Path, password: str | None, options: SourceOptions) -> PageSource:
        """Open a document.

        Raises:
            DamagedDocument, EmptyDocument, PasswordRequired, PasswordWrong, DocumentTooLarge
        """
        ...


# --- engines ------------------------------------------------------------------------------------------------------


@runtime_checkable
class Engine(Protocol):
    """Reads pages on the event loop (a server or a model in this process).

    Attributes:
        capacity: pages it can usefully hold at once.
    """

    name: EngineName
    capacity: int

    def read(self, request: PageRequest) -> AsyncIterator["BlockEvent | Delta | Reading"]:
        """Read a page; the last item is the Reading. Closing the iterator frees the page in the engine.

        Raises:
            EngineUnavailable, EngineTimeout, EngineDead
        """
        ...


class WorkerEngine(Protocol):
    """Reads pages synchronously; the pipeline keeps it in its child processes.

    Attributes:
        needs_pixels: False for an engine that is content with the text layer.
    """

    name: EngineName
    needs_pixels: bool

    def read(self, request: PageRequest) -> Reading:
        """Read one page.

        Raises:
            LanguageUnsupported, UnreadablePage
        """
        ...


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether an engine works on this machine: the reason, and what would make it work."""

    works: bool
    reason: str
    fix: str = ""


class EngineFactory(Protocol):
    """Opens an engine; loading and warm-up happen in `open`, closing is the end of the `with`.

    Attributes:
        runs: "loop" engines are opened by `open`, "worker" engines by `load` inside a child process.
        target: how large pages should be drawn for it.
        image_form: "raw" pixels (`PageRequest.image`) or "jpeg" (`PageRequest.encoded`); worker engines take raw.
        timeout_s: seconds without progress after which a page is given up.
    """

    name: ClassVar[str]
    runs: ClassVar[Literal["loop", "worker"]]
    options: ClassVar[type[Options]]
    target: ClassVar[Target]
    image_form: ClassVar[Literal["raw", "jpeg"]]
    timeout_s: ClassVar[float]

    def available(self, options: Options) -> Availability:
        """Cheap look whether it can work here; loads nothing heavy."""
        ...

    def open(self, options: Options) -> AbstractAsyncContextManager[Engine]:
        """Open a loop engine.

        Raises:
            EngineUnavailable, ModelsMissing, MissingExtra
        """
        ...

    def load(self, options: Options) -> WorkerEngine:
        """Load a worker engine, inside a child process.

        Raises:
            ModelsMissing, MissingExtra
        """
        ...


# --- dialects: how one vision-language model is spoken to ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ImageSize:
    """Width and height in pixels of the image a model is shown."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is sent with an image: text, token budget and decoding."""

    text: str
    visual_tokens: int
    decoding: Decoding
    tiles: int = 0


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reader made of a whole answer."""

    events: tuple[BlockEvent, ...]
    notes: tuple[str, ...] = ()
    truncated: bool = False


class Reader(Protocol):
    """Turns a model's words into blocks as they come; any cutting of the text gives the same blocks."""

    def feed(
        self, text: str, token_ids: Sequence[int] = (), logprobs: Sequence[float] = ()
    ) -> Iterable["BlockEvent | Delta"]:
        """Take the next piece of the answer."""
        ...

    def close(self, finish: str) -> Parsed:
        """End of the answer: all blocks, in reading order."""
        ...


@dataclass(frozen=True, slots=True)
class Canary:
    """A page whose words are known: an engine that cannot read it is not ready.

    Attributes:
        blocks: words and box (fractions of the image) of every block, in reading order.
    """

    image: PageImage
    blocks: tuple[tuple[str, Box], ...]


class Dialect(Protocol):
    """One folder a model: prompt, image policy, decoding, reader, canary page.

    Attributes:
        model: the checkpoint's public name, as a server is asked for it.
        special_tokens: ids that the tokenizer must give these tokens; an engine asserts them at its start.
        untiled_px: an image whose sides are no longer is shown as one view, without tiles.
        context_tokens: prompt and answer together.
    """

    name: ClassVar[str]
    model: ClassVar[str]
    special_tokens: ClassVar[Mapping[str, int]]
    untiled_px: ClassVar[int]
    context_tokens: ClassVar[int]

    def canary(self) -> Canary:
        """The known page."""
        ...

    def ask(self, ask: Ask, size: ImageSize) -> Prompt:
        """The prompt for a task; refuses tasks that the model does not know (`SettingsError`)."""
        ...

    def reader(self, number: int, ask: Ask, size: ImageSize) -> Reader:
        """A fresh reader for one answer about page `number`."""
        ...


# --- exporters: a document becomes files; same document, same bytes ------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file of an export, written piece by piece; `name` is a suffix such as ".md" or ".tables/table-1.csv"."""

    name: str
    chunks: Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Bundle:
    """All files of an export; the first one is the document itself."""

    files: tuple[OutputFile, ...]


class ExportOptions(Options):
    """Choices of the user that concern the written form.

    Attributes:
        headers: keep running headers, footers and page numbers in Markdown, text and HTML.
        page_marks: put a marker with the page number between pages.
        assets: folder of the crops, relative to the written file.
    """

    headers: bool = False
    page_marks: bool = False
    assets: str = "assets"


class Exporter(Protocol):
    """Writes a document in one format; `name` is also the CLI's --format word and the URL's suffix."""

    name: ClassVar[str]
    media_type: ClassVar[str]

    def export(self, document: PagedDocument, options: ExportOptions, extraction: Extraction | None = None) -> Bundle:
        """Files of the document; chunks may be made lazily while the pages are walked once."""
        ...
