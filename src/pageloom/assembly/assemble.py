"""Pages become a document: two walks over them, never more than a few in memory.

The first walk gathers light facts (running lines, headings). The second yields every page revised: running headers,
footers and page numbers named, heading levels made consistent, paragraphs and tables cut by a break joined. Ids never
change; a block that goes on keeps its id and place on the page where it begins, the later page names it in
`continued`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pageloom.assembly.continuation import columns_joined, page_joined, resolved, tail_of
from pageloom.assembly.furniture import FurnitureFacts, with_furniture
from pageloom.assembly.headings import HeadingFacts, with_levels
from pageloom.assembly.places import exchanged, flow
from pageloom.assembly.tables import table_joined, tail_table
from pageloom.model.blocks import Block
from pageloom.model.document import AnyPage, DocumentHead, FailedPage, Page, PagedDocument

# A block that goes on over more pages than this is begun anew, so that memory stays bounded.
MOST_PAGES_HELD = 60


def assemble(document: PagedDocument) -> PagedDocument:
    """The same document put together; nothing is walked before its pages are asked for."""
    return Assembled(document)


class Assembled:
    """A document whose pages are revised as they are walked; the first walk over the source is done once."""

    def __init__(self, source: PagedDocument) -> None:
        self._source = source
        self._facts: tuple[FurnitureFacts, HeadingFacts] | None = None

    @property
    def head(self) -> DocumentHead:
        """All but the pages, unchanged."""
        return self._source.head

    @property
    def pages(self) -> Iterable[AnyPage]:
        """Revised pages in order; walking again starts again."""
        return self._walk()

    def asset(self, name: str) -> bytes | None:
        """The bytes of a crop, as in the source."""
        return self._source.asset(name)

    def _walk(self) -> Iterator[AnyPage]:
        if self._facts is None:
            self._facts = _gathered(self._source.pages)
        furniture, headings = self._facts
        stitcher = Stitcher()
        for page in self._source.pages:
            if isinstance(page, FailedPage):
                yield from stitcher.close()
                yield page
            else:
                named = with_levels(with_furniture(_resolved(page), furniture), headings)
                yield from stitcher.feed(columns_joined(named))
        yield from stitcher.close()


def _gathered(pages: Iterable[AnyPage]) -> tuple[FurnitureFacts, HeadingFacts]:
    furniture, headings = FurnitureFacts(), HeadingFacts()
    for page in pages:
        if isinstance(page, Page):
            furniture.add(page)
            headings.add(page)
    headings.settle(furniture)
    return furniture, headings


def _resolved(page: Page) -> Page:
    blocks = tuple(resolved(block) for block in page.blocks)
    changed = any(new is not old for new, old in zip(blocks, page.blocks, strict=True))
    return page.model_copy(update={"blocks": blocks}) if changed else page


@dataclass(slots=True)
class Stitcher:
    """Joins what a page break cut; holds the pages that a block still grows on."""

    held: list[Page] = field(default_factory=list)
    open: tuple[int, str] | None = None
    """Place among the held pages and id of a block that filled the pages after its own to their ends."""

    def feed(self, page: Page) -> list[Page]:
        """Take the next page; returns the pages that will not change any more."""
        grown = self._joined(page) if self.held else None
        if grown is None:
            ready, self.held, self.open = self.held, [page], None
            return ready
        place, block, rest = grown
        self.held[place] = exchanged(self.held[place], block)
        self.held.append(rest)
        if flow(rest):
            ready, self.held, self.open = self.held[:-1], [rest], None
            return ready
        self.open = (place, block.id)
        return self.close() if len(self.held) > MOST_PAGES_HELD else []

    def close(self) -> list[Page]:
        """Let go of the pages held."""
        ready, self.held, self.open = self.held, [], None
        return ready

    def _joined(self, page: Page) -> tuple[int, Block, Page] | None:
        """The block that grows, its place among the held pages, and what is left of the page."""
        last = self.held[-1]
        place = self.open[0] if self.open else len(self.held) - 1
        for tail in self._tails():
            found = table_joined(tail, page) or page_joined(last, tail, page)
            if found is not None:
                return place, found[0], found[1]
        return None

    def _tails(self) -> list[Block]:
        if self.open is not None:
            place, name = self.open
            return [block for block in self.held[place].blocks if block.id == name]
        last = self.held[-1]
        return [block for block in (tail_table(last), tail_of(last)) if block is not None]
