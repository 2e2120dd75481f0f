"""A table printed sideways on an upright page: looked at upright, and its places turned back."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pageloom.layout.page import LayoutPage
from pageloom.layout.tables.build import FoundTable
from pageloom.model.blocks import Table
from pageloom.model.geometry import Box, PageSize, Placement
from pageloom.model.image import Ruling, TextLine
from pageloom.model.placing import placed

LEAST_LINES = 8  # lines in one sideways direction before a table is looked for among them
SHARE = 0.6  # of the lines in their area that must run that way

# Where the upright view lies on the page: lines that run downwards (90) or upwards (270).
BACK = {90: Placement(0, -1, 1, 1, 0, 0), 270: Placement(0, 1, 0, -1, 0, 1)}
THERE = {90: Placement(0, 1, 0, -1, 0, 1), 270: Placement(0, -1, 1, 1, 0, 0)}


@dataclass(frozen=True, slots=True)
class TurnedView:
    """The sideways lines of a page as an upright page.

    Attributes:
        indices: of its lines on the real page.
    """

    page: LayoutPage
    indices: tuple[int, ...]
    angle: Literal[90, 270]

    def back(self, found: FoundTable) -> FoundTable:
        """A table of this view on the real page."""
        (block,) = placed([found.block], BACK[self.angle])
        if not isinstance(block, Table):
            raise TypeError("placing changed the kind of a block")
        notes = (*block.notes, f"turned_{self.angle}")
        lines = frozenset(self.indices[n] for n in found.line_indices)
        return FoundTable(BACK[self.angle].box(found.box), lines, block.model_copy(update={"notes": notes}))


def turned_view(page: LayoutPage) -> TurnedView | None:
    """The view of a page's sideways lines, or None when there are too few for a table."""
    for angle in (90, 270):
        indices = tuple(n for n, line in enumerate(page.lines) if round(line.angle) == angle and line.text.strip())
        if len(indices) < LEAST_LINES:
            continue
        area = Box.around(page.lines[n].box for n in indices)
        inside = [line for line in page.lines if line.box.covered_by(area) > 0.5]
        if len(indices) >= SHARE * len(inside):
            return TurnedView(_turned(page, indices, angle), indices, angle)
    return None


def _turned(page: LayoutPage, indices: tuple[int, ...], angle: Literal[90, 270]) -> LayoutPage:
    there = THERE[angle]
    image = page.image
    if image is not None:
        rgb = np.ascontiguousarray(np.rot90(image.rgb, 1 if angle == 90 else -1))
        image = replace(image, rgb=rgb)
    return replace(
        page,
        size=PageSize(page.size.height, page.size.width),
        lines=tuple(_line(page.lines[n], there) for n in indices),
        image=image,
        rulings=tuple(_ruling(r, there) for r in page.rulings),
        pictures=tuple(there.box(b) for b in page.pictures),
        reread=None,
    )


def _line(line: TextLine, there: Placement) -> TextLine:
    words = tuple(replace(word, box=there.box(word.box)) for word in line.words)
    return replace(line, box=there.box(line.box), words=words, angle=0.0)


def _ruling(ruling: Ruling, there: Placement) -> Ruling:
    x0, y0 = there.point(ruling.x0, ruling.y0)
    x1, y1 = there.point(ruling.x1, ruling.y1)
    return Ruling(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
