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
    """Pieces of one row that share columns first..last; `rows` more than 1 when it stands beside several."""

    first: int
    last: int
    pieces: list[Piece] = field(default_factory=list)
    rows: int = 1


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
    lines = _beside(_continued(_anchored(lines, len(spans), height), segments, height), height)
    _group_heads(lines, spans, height)
    places = [
        Place(r, e.first, e.rows, e.last - e.first + 1, None, e.pieces) for r, line in enumerate(lines) for e in line
    ]
    filled = Filled(len(lines), len(spans), places, rect, "alignment", 0.8)
    _complete(filled)
    return filled


def _group_heads(lines: Sequence[Sequence[_Entry]], spans: Sequence[tuple[float, float]], height: float) -> None:
    """Heads of groups set at the left edge of their group span up to the next head, when the row below is full."""
    if len(lines) < 3 or len(lines[0]) >= len(lines[1]) or len(lines[1]) < 0.6 * len(spans):
        return
    below = {c for e in lines[1] for c in range(e.first, e.last + 1)}
    heads = sorted(lines[0], key=lambda e: e.first)
    limits = [e.first for e in heads[1:]] + [len(spans)]
    for entry, limit in zip(heads, limits, strict=True):
        level = abs(entry.pieces[0].rect.x0 - spans[entry.first][0]) < 0.6 * height
        grown = range(entry.last + 1, limit)
        if level and entry.rows == 1 and entry.first in below and all(c in below for c in grown):
            entry.last += len(grown)


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


def _anchored(lines: list[list[_Entry]], columns: int, height: float) -> list[list[_Entry]]:
    """Lines of a wrapped label beside a full row set at its middle: half a line above and below it."""
    full = [n for n, line in enumerate(lines) if len(line) >= max(2, 0.5 * columns)]
    taken: set[int] = set()
    for n, line in enumerate(lines):
        between = 0 < n < len(lines) - 1 and len(lines[n - 1]) > 1 and len(lines[n + 1]) > 1
        if n in full or len(line) != 1 or len(full) < 2 or between:
            continue  # between two rows it is a head that spans both, see `_beside`
        away = sorted((abs(_middle(lines[f]) - _middle(line)), f) for f in full)
        (near, own), (next_near, _) = away[:2]
        free = all(e.first == line[0].first or line[0].last < e.first or e.last < line[0].first for e in lines[own])
        if near < 0.85 * height and near < 0.6 * next_near and free:
            _add(lines[own], line[0])
            taken.add(n)
    return [line for n, line in enumerate(lines) if n not in taken]


def _add(row: list[_Entry], entry: _Entry) -> None:
    """An entry into a row: to the one in its column, else as a new one."""
    same = next((e for e in row if e.first <= entry.first and entry.last <= e.last), None)
    if same is None:
        row.append(entry)
    else:
        same.pieces += entry.pieces


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


def _beside(lines: list[list[_Entry]], height: float) -> list[list[_Entry]]:
    """Entries set in the middle beside two rows span them: the first head of a header two rows deep."""
    kept: list[list[_Entry]] = []
    skipped: list[_Entry] = []
    for n, line in enumerate(lines):
        if 0 < n < len(lines) - 1 and not skipped and _between(lines[n - 1], line, lines[n + 1], height):
            for entry in line:
                entry.rows = 2
            kept[-1] += line
            skipped = line
        else:
            kept.append(line)
            skipped = []
    return kept


def _between(above: Sequence[_Entry], line: Sequence[_Entry], below: Sequence[_Entry], height: float) -> bool:
    top, middle, bottom = _middle(above), _middle(line), _middle(below)
    centred = abs(middle - (top + bottom) / 2) < 0.3 * height and bottom - top < 2.6 * height
    free = all(other.last < entry.first or entry.last < other.first for entry in line for other in (*above, *below))
    return centred and free and bottom - top > 0.8 * height


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
