"""What was asked for, page by page, and what is told while it runs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pageloom.errors import PageloomError, PageNotFound, SettingsError
from pageloom.model.document import AnyPage, DocumentHead
from pageloom.model.geometry import PageSize

_RANGE = re.compile(r"(\d+)(?:-(\d*))?|-(\d+)")


@dataclass(frozen=True, slots=True)
class PageRange:
    """Page numbers from 1 in the order asked for, as written in `1-3,7,10-`."""

    spans: tuple[tuple[int, int | None], ...]

    @classmethod
    def read(cls, text: str) -> "PageRange":
        """Read `1-3,7`, `5-` (to the end) and `-4` (from the first).

        Raises:
            SettingsError: not a page range; pages count from 1.
        """
        spans: list[tuple[int, int | None]] = []
        for part in text.split(","):
            found = _RANGE.fullmatch(part.strip())
            if not found:
                raise SettingsError(f"{part.strip()!r} is not a page range; write 1-3,7 or 5-")
            first = int(found[1] or 1)
            last = int(found[3] or found[2]) if found[3] or found[2] else (None if "-" in part else first)
            if first < 1 or (last is not None and last < first):
                raise SettingsError(f"{part.strip()!r} is not a page range: pages count from 1, first before last")
            spans.append((first, last))
        return cls(tuple(spans))

    def of(self, page_count: int) -> tuple[int, ...]:
        """The numbers that a document of this many pages has, each once, in ascending order.

        Raises:
            PageNotFound: a named page is not there.
        """
        numbers: set[int] = set()
        for first, last in self.spans:
            end = page_count if last is None else last
            if first > page_count or end > page_count:
                raise PageNotFound(f"page {max(first, end)} was asked for, the document has {page_count}")
            numbers.update(range(first, end + 1))
        return tuple(sorted(numbers))


@dataclass(frozen=True, slots=True)
class Input:
    """One document to be: usually one file; several files become one document, in the order given.

    Attributes:
        name: how the document is called (the input's name as given, without folders).
        pages: pages wanted; None = all.
        skip: numbers that are done already and are not read again.
        key: the caller's own handle, carried through all events.
    """

    files: tuple[Path, ...]
    name: str
    pages: PageRange | None = None
    password: str | None = field(default=None, repr=False)
    skip: frozenset[int] = frozenset()
    key: str = ""


@dataclass(frozen=True, slots=True)
class PageTask:
    """One page to be read.

    Attributes:
        number: of the page in its document, from 1.
        file, file_page: where it is drawn from; a joined document has several files.
        attempt: unique per try, so that late answers of an older try can be dropped.
    """

    job: str
    number: int
    file: Path
    file_page: int
    size: PageSize
    password: str | None = field(default=None, repr=False)
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Opened:
    """A document was opened; `numbers` are the pages that will be read."""

    input: Input
    head: DocumentHead
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PageDone:
    """A page has ended, well or failed; crops by asset name."""

    input: Input
    page: AnyPage
    assets: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Refused:
    """A document could not be opened at all."""

    input: Input
    error: PageloomError


@dataclass(frozen=True, slots=True)
class Finished:
    """All pages of a document have ended."""

    input: Input


RunEvent = Opened | PageDone | Refused | Finished
