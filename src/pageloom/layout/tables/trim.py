"""Rows and columns that are no part of a table taken off its grid."""

from pageloom.layout.tables.filled import Filled, Place
from pageloom.layout.tables.frame import Rect


def without_blank_sides(filled: Filled) -> Filled:
    """Outer rows and columns whose border was not drawn and which hold no word (a notebook's lines run on past it)."""
    for side in sorted(filled.open_sides):
        if side in {"left", "right"} and filled.columns > 1:
            column = 0 if side == "left" else filled.columns - 1
            if not any(p.pieces for p in filled.places if p.column == column and p.column_span == 1):
                filled = without_column(filled, column)
        elif side in {"top", "bottom"} and filled.rows > 1:
            row = 0 if side == "top" else filled.rows - 1
            if not any(p.pieces for p in filled.places if p.row == row and p.row_span == 1):
                filled = without_row(filled, row)
    return filled


def without_column(filled: Filled, column: int) -> Filled:
    """The grid less one column; cells over it lose one from their span."""
    kept: list[Place] = []
    for p in filled.places:
        if column in p.columns:
            p.column_span -= 1
        elif p.column > column:
            p.column -= 1
        if p.column_span > 0:
            kept.append(p)
    return _less(filled, kept, filled.rows, filled.columns - 1)


def without_row(filled: Filled, row: int) -> Filled:
    """The grid less one row; cells over it lose one from their span."""
    kept: list[Place] = []
    for p in filled.places:
        if row in p.rows:
            p.row_span -= 1
        elif p.row > row:
            p.row -= 1
        if p.row_span > 0:
            kept.append(p)
    return _less(filled, kept, filled.rows - 1, filled.columns)


def _less(filled: Filled, kept: list[Place], rows: int, columns: int) -> Filled:
    rects = [p.rect for p in kept if p.rect is not None]
    rect = Rect.around(rects) if rects else filled.rect
    return Filled(rows, columns, kept, rect, filled.way, filled.sure, filled.open_sides)
