"""Tables whose cells are drawn: a grid of rules filled with words."""

from collections.abc import Sequence

from pageloom.layout.tables.again import Again
from pageloom.layout.tables.filled import Filled, Place, lines_a_cell, side_by_side
from pageloom.layout.tables.frame import Piece, Rect, overlap
from pageloom.layout.tables.grid import Grid, grid_of, groups
from pageloom.layout.tables.propose import numeric
from pageloom.layout.tables.rulings import Segment
from pageloom.layout.tables.text import cut, visual_rows
from pageloom.layout.tables.trim import without_blank_sides


def ruled(segments: Sequence[Segment], pieces: Sequence[Piece], again: Again, height: float) -> list[Filled]:
    """Grids that rules draw, each filled with its words; largest first. Whether one is a table is judged later."""
    found = []
    for group in groups(segments, slack=max(4.0, 0.3 * height)):
        grid = grid_of(group, height)
        if grid is not None:
            found.append(without_blank_sides(fill(grid, pieces, again)))
    return sorted(found, key=lambda f: -f.rect.area)


def fill(grid: Grid, pieces: Sequence[Piece], again: Again) -> Filled:
    """Put the words that stand inside a grid into its cells."""
    places = [Place(s.row, s.column, s.row_span, s.column_span, s.rect) for s in grid.slots]
    rect = grid.rect
    for piece in pieces:
        if piece.rect.intersection(rect) < 0.5 * piece.rect.area:
            continue
        for where, run in _cut(piece, grid, again):
            if where is not None:
                places[where].pieces.append(run)
    return Filled(grid.rows, grid.columns, places, rect, "rules", open_sides=grid.open_sides)


def _cut(piece: Piece, grid: Grid, again: Again) -> list[tuple[int | None, Piece]]:
    """Cut a line only where it clearly reaches into a second cell: boxes of lines are wider than their letters."""
    straight = grid.warp.rect(piece.rect)
    middle = straight.center[1]
    slack = 0.5 * piece.rect.height

    def place(rect: Rect) -> int | None:
        moved = grid.warp.rect(rect)
        slot = grid.slot_at(_inside(moved.center[0], grid.xs), _inside(moved.center[1], grid.ys))
        return None if slot is None else grid.slots.index(slot)

    reached = [
        n
        for n, s in enumerate(grid.slots)
        if grid.ys[s.row] <= middle < grid.ys[s.row + s.row_span]
        and overlap(straight.x0, straight.x1, grid.xs[s.column], grid.xs[s.column + s.column_span]) > slack
    ]
    if len(reached) > 1:
        read = again.cells(piece, [grid.slots[n].rect for n in reached])
        if read is not None:
            return [(n, p) for n, p in zip(reached, read, strict=True) if p.text]
        return cut(piece, again.frame, place)
    return [(place(piece.rect), piece)]


def _inside(at: float, borders: Sequence[float]) -> float:
    return min(max(at, borders[0] + 0.01), borders[-1] - 0.01)


def _rows_undrawn(filled: Filled) -> bool:
    """Whether a drawn row holds several rows: numbers below each other in two of its cells."""
    stacks: dict[int, int] = {}
    for place in filled.places:
        numbers = sum(any(numeric(p.text) for p in row) for row in visual_rows(place.pieces))
        stacks[place.row] = stacks.get(place.row, 0) + (numbers >= 3)
    return any(count >= 2 for count in stacks.values())


def verdict(filled: Filled, height: float) -> str:
    """What a filled grid is.

    Returns:
        "table", "form" (boxes with text: read cell by cell), "unruled" (a table some of whose columns are not drawn)
        or "none".
    """
    written = filled.written()
    columns, rows = {p.column for p in written}, {p.row for p in written}
    if len(written) < 2 or not (columns and rows):
        return "none"
    if filled.rows * filled.columns < 5 or len(rows) < 2 or len(columns) < 2:
        return "form" if len(filled.places) > 1 else "none"
    if _rows_undrawn(filled):
        return "unruled"
    apart = sum(side_by_side(p.pieces, height) for p in filled.places)
    if apart >= max(3, 0.5 * filled.rows):
        return "unruled"
    if len(written) < max(3, 0.08 * len(filled.places)):
        return "none"
    if filled.open_sides and lines_a_cell(filled) >= 3:
        return "none"  # columns of running text beside a rule
    return "table"
