"""A document as it is kept and sent: pages with verdicts, and nothing missing.

The JSON form of `Document` is the public format; its schema is `docs/schema/document-1.0.json`.
"""

from collections.abc import Iterable
from typing import Annotated, Literal, Protocol

from pydantic import Field

from pageloom.model.blocks import Block, Kept
from pageloom.model.geometry import PageSize

SCHEMA_VERSION = "1.0"

VerdictState = Literal["ok", "recovered", "suspect", "failed"]
RouteName = Literal["native", "ocr", "both"]


class Reason(Kept):
    """Why a page got its verdict or its route: a stable code and a sentence with the measured numbers."""

    code: str
    text: str = ""


class Verdict(Kept):
    """Can this page be believed?

    ok: read as it stands; recovered: a second way was needed and worked; suspect: read, but something
    speaks against it; failed: there is no text.
    """

    state: VerdictState = "ok"
    reasons: tuple[Reason, ...] = ()


class Route(Kept):
    """Which way a page was read, and the measured values that decided it."""

    name: RouteName
    reasons: tuple[Reason, ...] = ()
    measured: dict[str, float] = Field(default_factory=dict)


class EngineName(Kept):
    """The engine that read a page: name, version, model (and its revision) where it has one."""

    name: str
    version: str = ""
    model: str = ""


class Attempt(Kept):
    """One try at a page: rung of the ladder, how it ended, how long it took (seconds)."""

    rung: str
    engine: str
    outcome: str
    seconds: float = 0.0


class Page(Kept):
    """A page that was read; blocks stand in reading order.

    Attributes:
        number: from 1, as in the source document.
        size: points, as shown.
        turned: degrees clockwise that the page image was turned to be upright: 0, 90, 180 or 270. Boxes are in
            the frame of the page as shown, before this turn.
        skew: degrees by which the lines were tilted (clockwise positive) before deskewing.
        continued: ids of blocks begun on an earlier page that have regions on this one.
    """

    kind: Literal["page"] = "page"
    number: int = Field(ge=1)
    size: PageSize
    blocks: tuple[Block, ...] = ()
    verdict: Verdict = Verdict()
    route: Route | None = None
    engine: EngineName | None = None
    attempts: tuple[Attempt, ...] = ()
    turned: Literal[0, 90, 180, 270] = 0
    skew: float = 0.0
    continued: tuple[str, ...] = ()
    seconds: float = 0.0


class FailedPage(Kept):
    """A page that could not be read. It keeps its place: a failed page is a result."""

    kind: Literal["failed_page"] = "failed_page"
    number: int = Field(ge=1)
    size: PageSize | None = None
    code: str
    reason: str
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """Always `failed`, with the reason."""
        return Verdict(state="failed", reasons=(Reason(code=self.code, text=self.reason),))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """A failed page has none."""
        return ()


AnyPage = Annotated[Page | FailedPage, Field(discriminator="kind")]


class DocumentHead(Kept):
    """All of a document but its pages.

    Attributes:
        name: the input's name as given, without folders.
        sha256: of the input's bytes, hex.
        page_count: real pages of the source (pages left out by a page range included).
        warnings: remarks on the whole document, e.g. that the file was repaired.
        made_by: Pageloom's version.
    """

    schema_version: Literal["1.0"] = "1.0"
    name: str
    media_type: str = ""
    sha256: str = ""
    page_count: int = Field(default=0, ge=0)
    engine: EngineName | None = None
    engine_reason: str = ""
    warnings: tuple[Reason, ...] = ()
    made_by: str = ""


class PagedDocument(Protocol):
    """What an exporter needs: a head, and pages that can be walked more than once, one in memory at a time."""

    @property
    def head(self) -> DocumentHead:
        """All but the pages."""
        ...

    @property
    def pages(self) -> Iterable[AnyPage]:
        """Pages in order; walking again starts again."""
        ...

    def asset(self, name: str) -> bytes | None:
        """The bytes of a crop, or None when it was not kept."""
        ...
