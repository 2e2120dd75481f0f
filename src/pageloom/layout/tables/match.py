"""Text into the cells of the structure model: by rows and column bands, not by the largest overlap.

The model's boxes are about right for cells with text and nearly random for empty ones. So columns are taken as bands
over all rows, and a piece of text goes to the cell whose row it lies in and whose band it covers.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from pageloom.layout.tables.filled import Filled, Place
from pageloom.layout.tables.frame import Frame, Piece, Rect
from pageloom.layout.tables.slanet import ModelCell, Structure
from pageloom.layout.tables.text import cut, visual_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

FARTHEST = 2.5  # how much worse than the best cell (in line heights, roughly) one of the agreed row may be


def matched(structure: Structure, pieces: Sequence[Piece], rect: Rect, frame: Frame, height: float) -> Filled:
    """Every piece in a cell of the structure.

    Args:
        structure: its boxes in px of the page.
        pieces: the text of the table, cut at wide gaps.
        rect: of the table, px.
        frame: of the page.
        height: of a text line, px.
    """
    places = [Place(c.row, c.column, c.row_span, c.column_span, None, header=c.header) for c in structure.cells]
    bands = _bands(structure)
    match = _Match(structure.cells, bands, height)
    for row in visual_rows(pieces):
        agreed = match.agreed(row)
        for piece in row:
            for where, part in _cut(piece, match, frame, agreed):
                places[where].pieces.append(part)
    return Filled(structure.rows, structure.columns, places, rect, "model", structure.probability)


def _cut(piece: Piece, match: "_Match", frame: Frame, agreed: int | None) -> list[tuple[int, Piece]]:
    """Cut a piece that covers the middles of two columns of its row."""
    where = match.cell(piece.rect, agreed)
    row = match.cells[where].row if agreed is None else agreed
    inside = [
        b
        for c, b in enumerate(match.bands)
        if b.x0 + 0.3 * b.width > piece.rect.x0 and b.x1 - 0.3 * b.width < piece.rect.x1
    ]
    if len(inside) < 2 or match.spans(where, len(inside)):
        return [(where, piece)]
    parts = cut(piece, frame, lambda r: match.cell(r, row))
    return [(where if w is None else w, part) for w, part in parts]


class _Match:
    """Cells and the bands of their columns, as arrays so that a large table costs little."""

    def __init__(self, cells: Sequence[ModelCell], bands: Sequence[Rect], height: float) -> None:
        self.cells = cells
        self.bands = bands
        self._height = height
        self._rows = np.array([c.row for c in cells])
        self._ends = np.array([c.row + c.row_span for c in cells])
        self._y0, self._y1 = (np.array([getattr(c.rect, side) for c in cells]) for side in ("y0", "y1"))
        self._x0 = np.array([bands[c.column].x0 for c in cells])
        self._x1 = np.array([bands[min(c.column + c.column_span, len(bands)) - 1].x1 for c in cells])

    def spans(self, where: int, columns: int) -> bool:
        """Whether a cell takes up at least so many columns."""
        return self.cells[where].column_span >= columns

    def agreed(self, row: Sequence[Piece]) -> int | None:
        """The row of the structure in which most pieces that stand side by side lie; None where none has a majority.

        One cell's box may be a row off; the row it stands in is not.
        """
        votes = Counter(self.cells[n].row for n in (self.cell(p.rect) for p in row) if self.cells[n].row_span == 1)
        if not votes:
            return None
        best, count = votes.most_common(1)[0]
        return best if count >= 2 and 2 * count > sum(votes.values()) else None

    def cell(self, rect: Rect, row: int | None = None) -> int:
        """The best cell for a rectangle, of those that reach into one row or of all."""
        cost = self._cost(rect)
        if row is not None:
            among = np.where((self._rows <= row) & (row < self._ends), cost, np.inf)
            if among.min() <= cost.min() + FARTHEST:
                return int(among.argmin())
        return int(cost.argmin())

    def _cost(self, rect: Rect) -> "NDArray[np.float64]":
        x, y = rect.center
        down = np.maximum(np.maximum(self._y0 - y, y - self._y1), 0.0) / self._height
        down += 0.15 * np.abs(y - (self._y0 + self._y1) / 2) / np.maximum(self._height, self._y1 - self._y0)
        width = self._x1 - self._x0
        shared = np.minimum(rect.x1, self._x1) - np.maximum(rect.x0, self._x0)
        own = np.maximum(shared, 0.0) / np.maximum(1.0, np.minimum(rect.width, width))
        away = np.maximum(-shared, 0.0) / self._height
        near = np.abs(x - (self._x0 + self._x1) / 2) / np.maximum(1.0, np.maximum(width, rect.width))
        return np.asarray(down + 1.5 * (1 - np.minimum(1.0, own)) + 0.5 * away + 0.2 * near)


def _bands(structure: Structure) -> list[Rect]:
    """Where each column lies: medians over its cells, drawn apart where neighbours run into each other."""
    bands: list[Rect] = []
    for column in range(structure.columns):
        own = [c.rect for c in structure.cells if c.column == column and c.column_span == 1]
        if not own:
            own = [c.rect for c in structure.cells if c.column <= column < c.column + c.column_span]
        if not own:
            own = [Rect(bands[-1].x1, 0, bands[-1].x1 + 1, 1)] if bands else [structure.cells[0].rect]
        bands.append(
            Rect(median(r.x0 for r in own), min(r.y0 for r in own), median(r.x1 for r in own), max(r.y1 for r in own))
        )
    return bands
