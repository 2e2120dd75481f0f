"""The Python API: parse a document, stream its pages, keep it, load it again."""

import asyncio
import re
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import IO, Any

import orjson
from pydantic import TypeAdapter, ValidationError

from pageloom.app import App, assemble, exporter, open_app, write
from pageloom.contracts import ExportOptions
from pageloom.errors import DamagedDocument, SettingsError
from pageloom.model.document import AnyPage, DocumentHead, PagedDocument
from pageloom.model.job import Input, Opened, PageDone, PageRange, Refused, RunEvent
from pageloom.pipeline.home import BackgroundLoop
from pageloom.settings import Settings, read_settings

Source = str | Path | bytes | bytearray | IO[bytes]

_PAGES: TypeAdapter[tuple[AnyPage, ...]] = TypeAdapter(tuple[AnyPage, ...])
_HOME = BackgroundLoop()


class Document:
    """A parsed document: a head, pages in order, crops of its figures by name."""

    def __init__(self, head: DocumentHead, pages: Iterable[AnyPage], assets: Mapping[str, bytes] | None = None) -> None:
        self.head = head
        self.pages: tuple[AnyPage, ...] = tuple(pages)
        self.assets: dict[str, bytes] = dict(assets or {})

    def __repr__(self) -> str:
        return f"<Document {self.name!r}: {len(self.pages)} pages>"

    @property
    def name(self) -> str:
        """The input's name."""
        return self.head.name

    def asset(self, name: str) -> bytes | None:
        """The bytes of a crop, or None."""
        return self.assets.get(name)

    def export(self, format: str = "md", *, headers: bool = False, page_marks: bool = False) -> bytes:
        """The document in one format, as bytes (for formats of several files: the first).

        Raises:
            UnknownPlugin: no such format; the message lists all.
        """
        options = ExportOptions(headers=headers, page_marks=page_marks, assets=f"{Path(self.name).stem}.assets")
        return b"".join(exporter(format).export(self, options).files[0].chunks)

    def markdown(self, *, headers: bool = False, page_marks: bool = False) -> str:
        """The document as Markdown; running headers and page numbers only on request."""
        return self.export("md", headers=headers, page_marks=page_marks).decode()

    def text(self) -> str:
        """The document as plain text."""
        return self.export("txt").decode()

    def json(self) -> str:
        """The document as JSON of the published schema."""
        return self.export("json").decode()

    def save(self, folder: str | Path, formats: Sequence[str] = ("md", "json", "txt")) -> list[Path]:
        """Write the document and its crops into a folder; returns the written paths.

        Raises:
            UnknownPlugin, ExportError
        """
        return write(self, formats, Path(folder) / _stem(self.name), ExportOptions())

    @classmethod
    def load(cls, path: str | Path) -> "Document":
        """Read a document back from the JSON that `save` or the command line wrote, with the crops beside it.

        Raises:
            DamagedDocument: not a document of our schema.
        """
        path = Path(path)
        try:
            held = orjson.loads(path.read_bytes())
            pages = _PAGES.validate_python(held.pop("pages"))
            head = DocumentHead.model_validate(held)
        except (OSError, ValueError, KeyError, AttributeError, ValidationError) as error:
            raise DamagedDocument(f"{path.name} is not a Pageloom document of schema 1.0") from error
        folder = path.with_name(f"{path.stem}.assets")
        assets = {file.name: file.read_bytes() for file in folder.iterdir()} if folder.is_dir() else {}
        return cls(head, pages, assets)


def _stem(name: str) -> str:
    cleaned = re.sub(r"[/\\\x00-\x1f]", "_", Path(name).stem) or "document"
    return cleaned.encode()[:200].decode(errors="ignore")


class _Apps:
    """Running Apps by their settings, kept for the next call; the last two."""

    KEPT = 2

    def __init__(self) -> None:
        self._held: dict[str, tuple[App, AsyncExitStack]] = {}
        self._opening: asyncio.Lock | None = None
        self._registered = False

    async def app(self, settings: Settings) -> App:
        """The App for these settings, started if need be."""
        if self._opening is None:
            self._opening = asyncio.Lock()
        key = settings.model_dump_json()
        async with self._opening:
            if key not in self._held:
                while len(self._held) >= self.KEPT:
                    await self._close(next(iter(self._held)))
                stack = AsyncExitStack()
                self._held[key] = await stack.enter_async_context(open_app(settings)), stack
            if not self._registered:
                _HOME.close_at_exit(self.close)
                self._registered = True
            return self._held[key][0]

    async def _close(self, key: str) -> None:
        _, stack = self._held.pop(key)
        await stack.aclose()

    async def close(self) -> None:
        """End all Apps and their processes."""
        for key in list(self._held):
            await self._close(key)


_APPS = _Apps()


def _settings(engine: str | None, languages: Sequence[str] | str, settings: Mapping[str, Any] | None) -> Settings:
    overrides: dict[str, Any] = {
        name: dict(values) if isinstance(values, Mapping) else values for name, values in (settings or {}).items()
    }
    if engine is not None:
        overrides.setdefault("engine", {})["name"] = engine
    if languages:
        several = languages.split(",") if isinstance(languages, str) else list(languages)
        overrides.setdefault("read", {})["languages"] = tuple(several)
    return read_settings(overrides)


def _page_range(pages: str | Iterable[int] | None) -> PageRange | None:
    if pages is None:
        return None
    return PageRange.read(pages if isinstance(pages, str) else ",".join(str(number) for number in pages))


class _Held:
    """A source as a file: the caller's own, or a private copy of bytes that is removed afterwards."""

    def __init__(self, source: Source, name: str | None) -> None:
        self._folder: Path | None = None
        if isinstance(source, str | Path):
            self.path = Path(source)
            if not self.path.is_file():
                raise DamagedDocument(f"there is no file {self.path.name!r}")
            self.name = name or self.path.name
            return
        data = source if isinstance(source, bytes | bytearray) else source.read()
        if not isinstance(data, bytes | bytearray):
            raise SettingsError("a file to parse must be opened in binary mode ('rb')")
        self._folder = Path(tempfile.mkdtemp(prefix="pageloom-"))
        self.path = self._folder / "input"
        self.path.write_bytes(data)
        self.name = name or Path(str(getattr(source, "name", "document"))).name

    def __enter__(self) -> "_Held":
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


async def _told(settings: Settings, asked: Input) -> AsyncGenerator[RunEvent, None]:
    app = await _APPS.app(settings)
    async with aclosing(app.run([asked])) as events:
        async for event in events:
            if isinstance(event, Refused):
                raise event.error
            yield event


async def _whole(settings: Settings, asked: Input) -> PagedDocument:
    head = DocumentHead(name=asked.name)
    pages: dict[int, AnyPage] = {}
    assets: dict[str, bytes] = {}
    async with aclosing(_told(settings, asked)) as events:
        async for event in events:
            if isinstance(event, Opened):
                head = event.head
            elif isinstance(event, PageDone):
                pages[event.page.number] = event.page
                assets.update(event.assets)
    return assemble(Document(head, (pages[number] for number in sorted(pages)), assets))


def parse(
    source: Source,
    *,
    pages: str | Iterable[int] | None = None,
    password: str | None = None,
    engine: str | None = None,
    languages: Sequence[str] | str = (),
    **more: Any,  # noqa: ANN401 - `name`, `settings`; checked below
) -> Document:
    """Read a PDF, scan or photo into a document. Works in scripts, notebooks, threads and inside a running loop.

    Args:
        source: a path, the bytes of a file, or a file opened in binary mode.
        pages: "1-3,7" or page numbers from 1; None = all.
        password: for encrypted PDFs.
        engine: "auto" (default), "native", "onnx", ...
        languages: expected languages, e.g. "zh,en"; empty = find out.
        **more: `name` of the document; `settings`, a mapping of settings sections as in `pageloom.toml`.

    Returns:
        The document; pages that could not be read are in it as `FailedPage` with their reason.

    Raises:
        InputError: the file itself cannot be read (`UnsupportedFormat`, `DamagedDocument`, `PasswordRequired`, ...).
        EngineError, SettingsError
    """
    name, given = _more(more)
    settings = _settings(engine, languages, given)
    with _Held(source, name) as held:
        asked = Input((held.path,), held.name, _page_range(pages), password)
        found = _HOME.run(_whole(settings, asked))
    assets = {
        asset: data
        for page in found.pages
        for block in page.blocks
        if (asset := getattr(block, "asset", None)) and (data := found.asset(asset)) is not None
    }
    return Document(found.head, found.pages, assets)


async def stream(
    source: Source,
    *,
    pages: str | Iterable[int] | None = None,
    password: str | None = None,
    engine: str | None = None,
    languages: Sequence[str] | str = (),
    **more: Any,  # noqa: ANN401 - as in `parse`
) -> AsyncGenerator[AnyPage, None]:
    """Pages of a document as they are finished, in the order of finishing; arguments and errors as in `parse`.

    Pages are not put together (no joined paragraphs, no marked running headers): that needs the whole document.
    """
    name, given = _more(more)
    settings = _settings(engine, languages, given)
    with _Held(source, name) as held:
        asked = Input((held.path,), held.name, _page_range(pages), password)
        async with aclosing(_HOME.walk(_told(settings, asked))) as events:
            async for event in events:
                if isinstance(event, PageDone):
                    yield event.page


def _more(more: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any] | None]:
    unknown = set(more) - {"name", "settings"}
    if unknown:
        raise TypeError(
            f"unknown argument {sorted(unknown)[0]!r}; known: pages, password, engine, languages, name, settings"
        )
    return more.get("name"), more.get("settings")


__all__ = ["Document", "parse", "stream"]
