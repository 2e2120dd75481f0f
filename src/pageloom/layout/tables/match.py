"""Text into the cells of the structure model: by rows and column bands, not by the largest overlap.

The model's boxes are about right for cells with text and nearly random for empty ones. So columns are taken as bands
over all rows, and a piece of text goes to the cell whose row it lies in and whose band it covers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from pageloom.layout.tables.filled import Filled, Place
from pageloom.layout.tables.frame import Frame, Piece, Rect, overlap
from pageloom.layout.tables.slanet import ModelCell, Structure
from pageloom.layout.tables.text import cut


def matched(structure: Structure, pieces: Sequence[Piece], rect: Rect, frame: Frame, height: float) -> Filled:
    """Every piece in a cell of the structure.

    Args:
        structure: its boxes in px of the page.
        pieces: the text of the table, cut at wide gaps.
        rect: of the table, px.
        height: of a text line, px.
    """
    places = [Place(c.row, c.column, c.row_span, c.column_span, None, header=c.header) for c in structure.cells]
    bands = _bands(structure)
    match = _Match(structure.cells, bands, height)
    for piece in pieces:
        for where, part in _cut(piece, match, frame):
            places[where].pieces.append(part)
    filled = Filled(structure.rows, structure.columns, places, rect, "model", structure.probability)
    return filled


def _cut(piece: Piece, match: "_Match", frame: Frame) -> list[tuple[int, Piece]]:
    """Cut a piece that covers the middles of two columns of its row."""
    where = match.cell(piece.rect)
    row = match.cells[where].row
    inside = [
        b
        for c, b in enumerate(match.bands)
        if b.x0 + 0.3 * b.width > piece.rect.x0 and b.x1 - 0.3 * b.width < piece.rect.x1
    ]
    if len(inside) < 2 or match.spans(where, len(inside)):
        return [(where, piece)]
    parts = cut(piece, frame, lambda r: match.cell(r, row))
    return [(where if w is None else w, part) for w, part in parts]


@dataclass(frozen=True, slots=True)
class _Match:
    """Cells with the bands of the columns."""

    cells: Sequence[ModelCell]
    bands: Sequence[Rect]
    height: float

    def spans(self, where: int, columns: int) -> bool:
        return self.cells[where].column_span >= columns

    def cell(self, rect: Rect, row: int | None = None) -> int:
        """The best cell for a rectangle, of one row or of all."""
        return min(
            (n for n, c in enumerate(self.cells) if row is None or c.row == row),
            key=lambda n: self._cost(rect, self.cells[n]),
        )

    def _cost(self, rect: Rect, cell: ModelCell) -> float:
        middle = rect.center[1]
        down = max(cell.rect.y0 - middle, middle - cell.rect.y1, 0.0) / self.height
        down += 0.15 * abs(middle - cell.rect.center[1]) / max(self.height, cell.rect.height)
        bands = self.bands[cell.column : cell.column + cell.column_span]
        x0, x1 = bands[0].x0, bands[-1].x1
        own = max(0.0, overlap(rect.x0, rect.x1, x0, x1)) / max(1.0, min(rect.width, x1 - x0))
        away = max(x0 - rect.x1, rect.x0 - x1, 0.0) / self.height
        near = abs(rect.center[0] - (x0 + x1) / 2) / max(1.0, x1 - x0, rect.width)
        return down + 1.5 * (1 - min(1.0, own)) + 0.5 * away + 0.2 * near


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
