"""A grid with its text: the common form of all ways to find a table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from pageloom.layout.tables.frame import Piece, Rect
from pageloom.layout.tables.propose import numeric
from pageloom.layout.tables.text import visual_rows


@dataclass(slots=True)
class Place:
    """A cell with the pieces of text that stand in it."""

    row: int
    column: int
    row_span: int = 1
    column_span: int = 1
    rect: Rect | None = None
    pieces: list[Piece] = field(default_factory=list)
    header: bool = False

    @property
    def rows(self) -> range:
        """Rows it takes up."""
        return range(self.row, self.row + self.row_span)

    @property
    def columns(self) -> range:
        """Columns it takes up."""
        return range(self.column, self.column + self.column_span)


@dataclass(slots=True)
class Filled:
    """A table before it becomes a block.

    Attributes:
        rect: around all of it, px.
        way: "rules", "model" or "alignment".
        sure: 0-1, how well the way's own checks came out.
    """

    rows: int
    columns: int
    places: list[Place]
    rect: Rect
    way: str
    sure: float = 1.0
    open_sides: frozenset[str] = frozenset()

    @property
    def lines(self) -> frozenset[int]:
        """Indices of the lines whose words stand in its cells."""
        return frozenset(p.line for place in self.places for p in place.pieces if p.line >= 0)

    def written(self) -> list[Place]:
        """Cells with text."""
        return [place for place in self.places if place.pieces]


def whole(filled: Filled) -> bool:
    """Sanity: every place of the grid belongs to exactly one cell."""
    taken: set[tuple[int, int]] = set()
    for place in filled.places:
        for spot in ((r, c) for r in place.rows for c in place.columns):
            if spot in taken or spot[0] >= filled.rows or spot[1] >= filled.columns:
                return False
            taken.add(spot)
    return len(taken) == filled.rows * filled.columns


def lines_a_cell(filled: Filled) -> float:
    """Median number of printed lines in the cells that have text."""
    counts = [len(visual_rows(place.pieces)) for place in filled.written()]
    return float(median(counts)) if counts else 0.0


def conflicts(filled: Filled, height: float) -> int:
    """Pieces that cannot be right where they are: far apart in one cell, or in a row they do not belong to."""
    return sum(side_by_side(place.pieces, height) for place in filled.places) + _stacked(filled)


def _stacked(filled: Filled) -> int:
    """Numbers below each other in one cell while the cell above or below it is empty: one is a row off."""
    grid = {(r, c): place for place in filled.places for r in place.rows for c in place.columns}
    count = 0
    for place in filled.places:
        numbers = sum(all(numeric(p.text) for p in row) for row in visual_rows(place.pieces))
        beside = (grid.get((place.row - 1, place.column)), grid.get((place.row + place.row_span, place.column)))
        count += numbers >= 2 and any(b is not None and not b.pieces for b in beside)
    return 2 * count


def side_by_side(pieces: Sequence[Piece], height: float) -> int:
    """Rows of text in which pieces stand far apart: a sign of columns without a rule between them."""
    count = 0
    for row in visual_rows(pieces):
        gaps = [b.rect.x0 - a.rect.x1 for a, b in pairwise(row)]
        count += any(gap > 1.2 * height for gap in gaps)
    return count
