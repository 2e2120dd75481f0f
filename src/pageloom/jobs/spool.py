"""Finished pages on disk, one file each: a run holds none in memory, and what is finished survives an interruption."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from pageloom.errors import DamagedDocument
from pageloom.model.document import AnyPage, DocumentHead, FailedPage

_PAGE: TypeAdapter[AnyPage] = TypeAdapter(AnyPage)


class SpooledPages:
    """Pages of a spool in order; walked anew each time, one page in memory at a time."""

    def __init__(self, spool: "PageSpool") -> None:
        self._spool = spool

    def __iter__(self) -> Iterator[AnyPage]:
        for number in self._spool.numbers():
            yield self._spool.page(number)

    def __len__(self) -> int:
        return len(self._spool.numbers())


class SpooledDocument:
    """A `PagedDocument` whose pages and crops lie in a spool."""

    def __init__(self, head: DocumentHead, spool: "PageSpool") -> None:
        self.head = head
        self._spool = spool

    @property
    def pages(self) -> SpooledPages:
        """Pages in order."""
        return SpooledPages(self._spool)

    def asset(self, name: str) -> bytes | None:
        """The bytes of a crop."""
        return self._spool.asset(name)

    def asset_names(self) -> tuple[str, ...]:
        """Names of all crops."""
        return self._spool.asset_names()


class PageSpool:
    """A folder of finished pages; every file appears whole (written beside and renamed)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pages = folder / "pages"
        self._assets = folder / "assets"
        self._pages.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._assets.mkdir(mode=0o700, exist_ok=True)

    def put(self, page: AnyPage, assets: Mapping[str, bytes]) -> None:
        """Keep a finished page and its crops; crops first, so that a page never names a missing one."""
        for name, data in assets.items():
            _write(self._assets / Path(name).name, data)
        _write(self._pages / f"{page.number:06}.json", page.model_dump_json().encode())

    def numbers(self) -> tuple[int, ...]:
        """Numbers of all kept pages, ascending."""
        return tuple(sorted(int(path.stem) for path in self._pages.glob("[0-9]*.json")))

    def done(self) -> frozenset[int]:
        """Numbers of the pages that were read, failed ones left out."""
        return frozenset(n for n in self.numbers() if not isinstance(self.page(n), FailedPage))

    def page(self, number: int) -> AnyPage:
        """One kept page.

        Raises:
            DamagedDocument: its file is not there or is not ours.
        """
        path = self._pages / f"{number:06}.json"
        try:
            return _PAGE.validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise DamagedDocument(f"page {number} of an unfinished run cannot be read back") from error

    def asset(self, name: str) -> bytes | None:
        """The bytes of a crop, or None."""
        path = self._assets / Path(name).name
        return path.read_bytes() if path.is_file() else None

    def asset_names(self) -> tuple[str, ...]:
        """Names of all kept crops, sorted."""
        return tuple(sorted(path.name for path in self._assets.iterdir() if not path.name.endswith(".part")))

    def note(self, name: str, text: str) -> None:
        """Keep a small text beside the pages (what was asked for, so that a later run can tell)."""
        _write(self.folder / Path(name).name, text.encode())

    def noted(self, name: str) -> str | None:
        """A text kept by `note`."""
        path = self.folder / Path(name).name
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def document(self, head: DocumentHead) -> SpooledDocument:
        """The kept pages as a document."""
        return SpooledDocument(head, self)

    def remove(self) -> None:
        """Forget everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_bytes(data)
    part.replace(path)
