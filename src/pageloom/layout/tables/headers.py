"""Which cells are headers: the rows above the body, also when they are two or three deep."""

from collections.abc import Sequence
from statistics import median

from pageloom.layout.tables.filled import Filled, Place
from pageloom.layout.tables.propose import numeric

DEEPEST = 4


def flag_headers(filled: Filled, bold: Sequence[bool]) -> None:
    """Mark header cells in place.

    Args:
        filled: the table.
        bold: for every line of the page, whether its font is bold (known for text layers only).
    """
    if filled.rows < 2:
        return
    if any(p.header for p in filled.places) and filled.way == "model":
        depth = max(p.row + p.row_span for p in filled.places if p.header)
    else:
        depth = _depth(filled, bold)
    if depth >= filled.rows:
        depth = 1
    for place in filled.places:
        place.header = place.row < depth


def _depth(filled: Filled, bold: Sequence[bool]) -> int:
    """Rows of the header: at least the first row and all rows it reaches into by spans, then rows unlike the body."""
    depth = _closed(filled, 1)
    body = _numbers(filled, range(max(depth, filled.rows // 2), filled.rows))
    while depth < min(DEEPEST, filled.rows - 1):
        grouped = any(p.column_span > 1 and p.pieces and p.row + p.row_span == depth for p in filled.places)
        if not (grouped or _all_bold(filled, depth, bold)) or _numbers(filled, range(depth, depth + 1)) > 0.5 * body:
            break
        depth = _closed(filled, depth + 1)
    return depth


def _closed(filled: Filled, depth: int) -> int:
    """The depth at which no cell of the header reaches into the body (labels that span half the table do not count)."""
    for _ in range(DEEPEST):
        reach = max((p.row + p.row_span for p in filled.places if p.row < depth), default=depth)
        if reach == depth or reach > min(DEEPEST, 1 + filled.rows // 2):
            break
        depth = reach
    return depth


def _numbers(filled: Filled, rows: range) -> float:
    """Median share of numbers in the written cells of rows, 0-1."""
    shares = [_share([p for p in filled.places if p.row == r and p.pieces]) for r in rows]
    return float(median(shares)) if shares else 0.0


def _share(places: Sequence[Place]) -> float:
    return sum(numeric(" ".join(q.text for q in p.pieces)) for p in places) / len(places) if places else 0.0


def _all_bold(filled: Filled, row: int, bold: Sequence[bool]) -> bool:
    lines = [q.line for p in filled.places if p.row == row for q in p.pieces if q.line >= 0]
    return bool(lines) and all(bold[n] for n in lines)
