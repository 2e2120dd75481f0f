"""Running headers, footers and page numbers: what comes again at the same height of many pages.

Nothing is deleted; such blocks get their own kind. Digits are folded, so "Page 3" and "Page 4" are the same line.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from rapidfuzz import fuzz

from pageloom.assembly.places import place, turned_into
from pageloom.model.blocks import (
    Block,
    Caption,
    Footnote,
    Furniture,
    Heading,
    ListItem,
    PageNumber,
    Paragraph,
    Reference,
    RunningFooter,
    RunningHeader,
)
from pageloom.model.document import Page

Zone = Literal["top", "bottom"]
ZONES: tuple[Zone, Zone] = ("top", "bottom")
ZONE_HEIGHT = 0.14  # share of the page at its head and foot in which furniture stands
MOST_LETTERS = 160
MOST_LINES = 3
SAME_HEIGHT = 0.025  # share of the page by which a running line may move from page to page
FEW_PAGES = 4  # up to this many pages two equal lines are enough, beyond it three
ALIKE = 88.0  # per cent of equal letters by which a misread running line is still known
SHORTEST_FUZZY = 6
Candidate = Paragraph | Heading | ListItem | Caption | Footnote | Reference | RunningHeader | RunningFooter | PageNumber

_ROMAN = re.compile(r"(?=[ivxl])x{0,3}(?:ix|iv|v?i{0,3})|l?x{1,3}(?:ix|iv|v?i{0,3})", re.I)
_BARE = re.compile(r"\W{0,4}(\d{1,4})\W{0,4}")
_SPOKEN = re.compile(
    r"\W*(?:page|seite|p\.|pg\.?|pág(?:ina)?\.?|第)?\s*(\d{1,4})\s*"
    r"(?:页|頁|ページ|/\s*\d{1,4}|of\s+\d{1,4}|von\s+\d{1,4}|de\s+\d{1,4}|sur\s+\d{1,4})?"
    r"\s*(?:[,，/]?\s*共\s*\d{1,4}\s*[页頁])?\W*",
    re.I,
)


@dataclass(slots=True)
class _Seen:
    count: int = 0
    height: float = 0.0
    headings: int = 0


@dataclass(slots=True)
class FurnitureFacts:
    """What pass one remembers of the edges of all pages."""

    pages: int = 0
    lines: dict[tuple[Zone, str], _Seen] = field(default_factory=dict)
    offsets: Counter[tuple[Zone, int]] = field(default_factory=Counter)
    _common: dict[Zone, list[str]] = field(default_factory=dict)

    def add(self, page: Page) -> None:
        """Remember the edges of one page."""
        self.pages += 1
        for zone in ZONES:
            for block in edge(page, zone):
                self._remember(page, zone, block)

    def _remember(self, page: Page, zone: Zone, block: Candidate) -> None:
        number = printed_number(block.text)
        if number is not None:
            self.offsets[zone, number - page.number] += 1
        seen = self.lines.setdefault((zone, folded(block.text)), _Seen())
        height = place(block, page.number).center[1]
        # A line at another height is another line; the first height counts.
        if seen.count and abs(seen.height - height) > SAME_HEIGHT:
            return
        seen.count += 1
        seen.height = seen.height or height
        seen.headings += isinstance(block, Heading)

    def repeated(self, zone: Zone, block: Candidate, height: float) -> bool:
        """Whether a line stands in this place of several pages; a misread letter does no harm."""
        key = folded(block.text)
        if not key:
            return False
        seen = self.lines.get((zone, key))
        if seen is not None and self._often(seen):
            return abs(seen.height - height) <= SAME_HEIGHT
        if len(key) < SHORTEST_FUZZY:
            return False
        return any(
            abs(self.lines[zone, other].height - height) <= SAME_HEIGHT
            for other in self._known(zone)
            if abs(len(other) - len(key)) <= 3 and fuzz.ratio(other, key) >= ALIKE
        )

    def _often(self, seen: _Seen) -> bool:
        least = 2 if self.pages <= FEW_PAGES and not seen.headings else 3
        return seen.count >= least

    def _known(self, zone: Zone) -> list[str]:
        if zone not in self._common:
            often = [
                (seen.count, key) for (where, key), seen in self.lines.items() if where == zone and self._often(seen)
            ]
            self._common[zone] = [key for _, key in sorted(often, reverse=True)[:64]]
        return self._common[zone]


def with_furniture(page: Page, facts: FurnitureFacts) -> Page:
    """The page with its running headers, footers and page numbers named so."""
    changed: dict[str, Block] = {}
    for zone in ZONES:
        for block in edge(page, zone):
            new = _renamed(block, page, zone, facts)
            if new is None:
                break  # furniture stands outside of everything else
            changed[block.id] = new
    if not changed:
        return page
    return page.model_copy(update={"blocks": tuple(changed.get(block.id, block) for block in page.blocks)})


def _renamed(block: Candidate, page: Page, zone: Zone, facts: FurnitureFacts) -> Block | None:
    """The block as furniture, or None when it is none."""
    if isinstance(block, PageNumber):
        return block
    number = printed_number(block.text)
    if number is not None and not isinstance(block, Heading):
        follows = facts.offsets[zone, number - page.number] >= 2
        if follows or _speaks_of_pages(block.text):
            return turned_into(PageNumber, block)
    if isinstance(block, RunningHeader | RunningFooter):
        return block
    if not facts.repeated(zone, block, place(block, page.number).center[1]):
        return None
    return turned_into(RunningHeader, block) if zone == "top" else turned_into(RunningFooter, block)


def edge(page: Page, zone: Zone) -> list[Candidate]:
    """Short text blocks at the head or foot of a page, from the outside in, up to the first other block."""
    placed = sorted(
        ((place(block, page.number), block) for block in page.blocks if block.regions),
        key=lambda pair: pair[0].y0 if zone == "top" else -pair[0].y1,
    )
    found: list[Candidate] = []
    for box, block in placed:
        inside = box.y1 <= ZONE_HEIGHT if zone == "top" else box.y0 >= 1.0 - ZONE_HEIGHT
        if not inside:
            break
        short = isinstance(block, Candidate) and len(block.text) <= MOST_LETTERS and len(block.lines) <= MOST_LINES
        if isinstance(block, Candidate) and (short or isinstance(block, Furniture)):
            found.append(block)
    return found


def folded(text: str) -> str:
    """A line's letters without case, blanks and marks; every run of digits is one `0`."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"\d+", "0", "".join(sign for sign in plain if sign.isalnum()))[:MOST_LETTERS]


def printed_number(text: str) -> int | None:
    """The page number that a line consists of: `7`, `- 7 -`, `Page 7 of 9`, `第7页 共9页`, `vii`; None for others."""
    plain = unicodedata.normalize("NFKC", text).strip()
    match = _BARE.fullmatch(plain) or _SPOKEN.fullmatch(plain)
    if match:
        return int(match.group(1))
    return _roman(plain) if _ROMAN.fullmatch(plain) else None


def _speaks_of_pages(text: str) -> bool:
    plain = unicodedata.normalize("NFKC", text).strip()
    return _BARE.fullmatch(plain) is None and _SPOKEN.fullmatch(plain) is not None


def _roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50}[letter] for letter in text.lower()]
    later = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, later, strict=True))
