"""Heading levels that agree over the whole document.

A numbered heading has the level of its number: 1 / 1.1 / 1.1.1, 第一章 / 第一节, 一、 / （一）. Headings without a
number get the level of numbered ones of their size; where none is numbered, levels follow the sizes of the letters.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median

from pageloom.assembly.furniture import ZONES, FurnitureFacts, Zone, edge
from pageloom.assembly.numbering import ORDER, Number, number_of
from pageloom.assembly.places import letter_height, place
from pageloom.model.blocks import Heading
from pageloom.model.document import Page

DEEPEST = 6
# Sizes within this share of each other are one size: boxes of recognised lines differ so much with their letters.
SAME_SIZE = 0.16
SAME_SIZE_EXACT = 0.05  # a text layer tells sizes better


@dataclass(frozen=True, slots=True)
class _Seen:
    number: Number | None
    size: float


@dataclass(slots=True)
class HeadingFacts:
    """What pass one remembers of all headings.

    Attributes:
        seen: headings inside pages.
        edge: headings at the head or foot of pages, with their block and height: some turn out to be running lines.
        exact: whether all sizes come from text layers.
    """

    seen: list[_Seen] = field(default_factory=list)
    edge: list[tuple[Zone, Heading, float, _Seen]] = field(default_factory=list)
    exact: bool = True
    _plan: "_Plan | None" = None

    def add(self, page: Page) -> None:
        """Remember the headings of one page."""
        zones: dict[str, Zone] = {block.id: zone for zone in ZONES for block in edge(page, zone)}
        for block in page.blocks:
            if not isinstance(block, Heading):
                continue
            self.exact = self.exact and block.confidence.basis == "text-layer"
            seen = _Seen(number_of(block.text), letter_height(block, page) or 0.0)
            if block.id in zones:
                bare = Heading(id=block.id, regions=(), text=block.text)
                self.edge.append((zones[block.id], bare, place(block, page.number).center[1], seen))
            else:
                self.seen.append(seen)

    def settle(self, furniture: FurnitureFacts) -> None:
        """Keep those at the edges that are no running lines; called once, after all pages were added."""
        self.seen += [seen for zone, block, height, seen in self.edge if not furniture.repeated(zone, block, height)]
        self.edge = []

    def level(self, block: Heading, page: Page) -> int:
        """The level of a heading in the whole document, 1 to 6."""
        self._plan = self._plan or _Plan.of(self.seen, SAME_SIZE_EXACT if self.exact else SAME_SIZE)
        level = self._plan.level(number_of(block.text), letter_height(block, page) or 0.0, block.level)
        return min(DEEPEST, max(1, level))


def with_levels(page: Page, facts: HeadingFacts) -> Page:
    """The page with the levels of its headings made those of the document."""
    blocks = tuple(
        block.model_copy(update={"level": facts.level(block, page)}) if isinstance(block, Heading) else block
        for block in page.blocks
    )
    return page.model_copy(update={"blocks": blocks})


@dataclass(frozen=True, slots=True)
class _Plan:
    numbered: dict[str, int]
    sizes: tuple[tuple[float, int], ...]
    tolerance: float

    @classmethod
    def of(cls, seen: list[_Seen], tolerance: float) -> "_Plan":
        numbered = _ways({heading.number for heading in seen if heading.number})
        by_level: dict[int, list[float]] = defaultdict(list)
        for heading in seen:
            if heading.number and heading.size:
                by_level[_numbered_level(numbered, heading.number)].append(heading.size)
        plain = [heading.size for heading in seen if not heading.number and heading.size]
        known = tuple((median(sizes), level) for level, sizes in sorted(by_level.items()))
        return cls(numbered, known or _clusters(plain, tolerance), tolerance)

    def level(self, number: Number | None, size: float, given: int) -> int:
        if number is not None:
            return _numbered_level(self.numbered, number)
        if not size or not self.sizes:
            return given
        nearest, level = min(self.sizes, key=lambda known: abs(known[0] - size))
        if abs(nearest - size) <= self.tolerance * nearest:
            return level
        # Larger than the nearest known size: one level up, smaller: one down.
        return max(1, level - 1) if size > nearest else level + 1


def _clusters(sizes: list[float], tolerance: float) -> tuple[tuple[float, int], ...]:
    """Sizes from large to small, gathered where they are alike, each group one level deeper."""
    groups: list[list[float]] = []
    for size in sorted(sizes, reverse=True):
        if groups and size >= groups[-1][0] * (1.0 - tolerance):
            groups[-1].append(size)
        else:
            groups.append([size])
    return tuple((median(group), level) for level, group in enumerate(groups, 1))


def _ways(numbers: set[Number]) -> dict[str, int]:
    """Level of every way of numbering that occurs: dotted numbers by their parts, the others by custom."""
    present = {number.way for number in numbers}
    if "roman" in present:
        # "C.", "D." and "I." are both; beside "II." single letters number the sections below.
        return {"roman": 1, "letter": 2, "decimal": 3, **_ranked(present - {"roman", "letter", "decimal"}, 3)}
    dotted = any(number.way == "decimal" and number.depth > 1 for number in numbers)
    ranked = _ranked(present - {"letter"} - ({"decimal"} if dotted else set()), 1)
    if dotted:
        ranked["decimal"] = 1
    return {"letter": 1, **ranked}


def _ranked(present: set[str], first: int) -> dict[str, int]:
    return {way: first + rank for rank, way in enumerate(way for way in ORDER if way in present)}


def _numbered_level(ways: dict[str, int], number: Number) -> int:
    return ways.get(number.way, 1) + number.depth - 1
