"""A grid from the alignment of text: columns by white space, rows by baselines.

Used where the structure model gives up (wide and long tables) or is not installed, so it must be right on clean
tables and merely sane on others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pageloom.layout.tables.filled import Filled, Place
from pageloom.layout.tables.frame import Piece, Rect, overlap
from pageloom.layout.tables.propose import columns_of, numeric
from pageloom.layout.tables.rulings import Segment
from pageloom.layout.tables.text import visual_rows


@dataclass(slots=True)
class _Entry:
    """Pieces of one row that share columns first..last."""

    first: int
    last: int
    pieces: list[Piece] = field(default_factory=list)


def aligned(pieces: Sequence[Piece], segments: Sequence[Segment], rect: Rect, height: float) -> Filled | None:
    """The grid of a region, or None when its text keeps to fewer than two columns.

    Args:
        pieces: text of the region, cut at wide gaps.
        segments: lines of the page; flat ones inside the region part rows.
        rect: of the region, px.
        height: of a text line, px.
    """
    rows = visual_rows(pieces)
    spans = columns_of(rows, height)
    if len(spans) < 2 or len(rows) < 2:
        return None
    lines = [_entries(row, spans) for row in rows]
    lines = _continued(lines, segments, height)
    places = [Place(r, e.first, 1, e.last - e.first + 1, None, e.pieces) for r, line in enumerate(lines) for e in line]
    filled = Filled(len(lines), len(spans), places, rect, "alignment", 0.8)
    _complete(filled)
    return filled


def _entries(row: Sequence[Piece], spans: Sequence[tuple[float, float]]) -> list[_Entry]:
    """Pieces of a row by the columns they cover; a piece over several columns spans them."""
    found: list[_Entry] = []
    for piece in row:
        own = [
            n
            for n, (a, b) in enumerate(spans)
            if overlap(piece.rect.x0, piece.rect.x1, a, b) > 0.25 * min(b - a, piece.rect.width)
        ]
        if not own:
            middle = piece.rect.center[0]
            own = [min(range(len(spans)), key=lambda n: abs(sum(spans[n]) / 2 - middle))]
        entry = next((e for e in found if e.first <= own[-1] and own[0] <= e.last), None)
        if entry is None:
            found.append(_Entry(own[0], own[-1], [piece]))
        else:
            entry.first, entry.last = min(entry.first, own[0]), max(entry.last, own[-1])
            entry.pieces.append(piece)
    return found


def _continued(lines: list[list[_Entry]], segments: Sequence[Segment], height: float) -> list[list[_Entry]]:
    """Rows that go on with the one above: only words (no number), set tighter than rows are, no rule between."""
    pitch = _pitch(lines)
    kept: list[list[_Entry]] = []
    for line in lines:
        if kept and _goes_on(kept[-1], line, pitch, height) and not _ruled_off(kept[-1], line, segments):
            for entry in line:
                own = next(e for e in kept[-1] if e.first <= entry.first and entry.last <= e.last)
                own.pieces += entry.pieces
        else:
            kept.append(line)
    return kept


def _pitch(lines: Sequence[Sequence[_Entry]]) -> float:
    """Distance between the middles of full rows, px: the median over rows with the most entries."""
    most = max(len(line) for line in lines)
    full = [_middle(line) for line in lines if len(line) >= max(2, 0.7 * most)]
    steps = sorted(b - a for a, b in pairwise(full))
    return steps[len(steps) // 2] if steps else 0.0


def _middle(line: Sequence[_Entry]) -> float:
    pieces = [p for e in line for p in e.pieces]
    return sum(p.rect.center[1] for p in pieces) / len(pieces)


def _goes_on(above: Sequence[_Entry], line: Sequence[_Entry], pitch: float, height: float) -> bool:
    fits = all(any(e.first <= entry.first and entry.last <= e.last for e in above) for entry in line)
    words = not any(numeric(p.text) for e in line for p in e.pieces)
    fewer = len(line) < len(above)
    bottom = max(p.rect.center[1] for e in above for p in e.pieces)
    step = min(p.rect.center[1] for e in line for p in e.pieces) - bottom
    return fits and words and fewer and step < 0.8 * pitch and step < 1.6 * height


def _ruled_off(above: Sequence[_Entry], line: Sequence[_Entry], segments: Sequence[Segment]) -> bool:
    top = max(p.rect.center[1] for e in above for p in e.pieces)
    bottom = min(p.rect.center[1] for e in line for p in e.pieces)
    return any(s.flat and top < (s.y0 + s.y1) / 2 < bottom for s in segments)


def _complete(filled: Filled) -> None:
    """Empty cells for the places that no text takes."""
    taken = {(r, c) for p in filled.places for r in p.rows for c in p.columns}
    for r in range(filled.rows):
        for c in range(filled.columns):
            if (r, c) not in taken:
                filled.places.append(Place(r, c))
    filled.places.sort(key=lambda p: (p.row, p.column))
