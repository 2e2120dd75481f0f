"""A table as the rectangle of cells that HTML and pipe tables want: no overlaps, no holes, no word lost."""

from collections.abc import Iterator
from dataclasses import dataclass

from pageloom.exports.writing import clean
from pageloom.model.blocks import Cell, Table

# A grid with more places than this and almost no cells is a slip of a reader, not a table.
SPARSE_PLACES = 20_000
SPARSE_FACTOR = 50


@dataclass(frozen=True, slots=True)
class Place:
    """One cell to write: its column from 0, words, and spans that overlap no other cell; `cell` is None in a hole."""

    column: int
    text: str = ""
    row_span: int = 1
    column_span: int = 1
    header: bool = False
    cell: Cell | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of places, left to right; places covered by a span are left out."""

    rows: tuple[tuple[Place, ...], ...]
    columns: int

    @property
    def simple(self) -> bool:
        """One header row on top, no spans: what a pipe table can say."""
        places = [place for row in self.rows for place in row]
        spans = any(place.row_span > 1 or place.column_span > 1 for place in places)
        heads = [all(place.header for place in row) for row in self.rows]
        later = any(place.header for row in self.rows[1:] for place in row)
        return len(self.rows) > 1 and not spans and heads[0] and not later


def grid(table: Table) -> Grid:
    """Lay a table's cells out; spans that overlap other cells are cut, cells in one place are joined."""
    cells = _joined(table.cells)
    rows = _axis({row for row, _ in cells}, table.rows, len(cells))
    columns = _axis({column for _, column in cells}, table.columns, len(cells))
    placed = {(rows.index_of(row), columns.index_of(column)): cell for (row, column), cell in cells.items()}
    taken: set[tuple[int, int]] = set()
    laid: list[tuple[Place, ...]] = []
    for row in range(rows.length):
        laid.append(tuple(_row(placed, taken, row, rows.length, columns.length)))
    return Grid(tuple(laid), columns.length)


@dataclass(frozen=True, slots=True)
class _Axis:
    length: int
    ranks: dict[int, int] | None = None

    def index_of(self, number: int) -> int:
        return number if self.ranks is None else self.ranks[number]


def _axis(used: set[int], wanted: int, cells: int) -> _Axis:
    length = max(used, default=-1) + 1
    if length > SPARSE_PLACES or length > SPARSE_FACTOR * (cells + 1):
        ranks = {number: rank for rank, number in enumerate(sorted(used))}
        return _Axis(len(ranks), ranks)
    return _Axis(max(length, min(wanted, SPARSE_FACTOR * (cells + 1))) if used else 0)


def _joined(cells: tuple[Cell, ...]) -> dict[tuple[int, int], Cell]:
    found: dict[tuple[int, int], Cell] = {}
    for cell in cells:
        place = (cell.row, cell.column)
        before = found.get(place)
        if before is None:
            found[place] = cell
        else:
            found[place] = before.model_copy(update={"text": f"{before.text} {cell.text}".strip()})
    return found


def _row(
    placed: dict[tuple[int, int], Cell], taken: set[tuple[int, int]], row: int, rows: int, columns: int
) -> Iterator[Place]:
    for column in range(columns):
        if (row, column) in taken:
            continue
        cell = placed.get((row, column))
        if cell is None:
            yield Place(column)
            continue
        wide = 1
        while wide < min(cell.column_span, columns - column) and _free(placed, taken, row, column + wide):
            wide += 1
        high = 1
        while high < min(cell.row_span, rows - row) and all(
            _free(placed, taken, row + high, column + step) for step in range(wide)
        ):
            high += 1
        taken.update((row + down, column + right) for down in range(high) for right in range(wide))
        yield Place(column, clean(cell.text).strip(), high, wide, cell.header, cell)


def _free(placed: dict[tuple[int, int], Cell], taken: set[tuple[int, int]], row: int, column: int) -> bool:
    return (row, column) not in placed and (row, column) not in taken
