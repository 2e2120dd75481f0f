"""Cells from rules: lines that meet form a grid; missing pieces of line make spans."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pageloom.layout.tables.frame import Rect
from pageloom.layout.tables.rulings import Segment
from pageloom.layout.tables.warp import Warp, straightening

EDGE_SHARE = 0.55  # of a cell's side that must be drawn: broken and faint lines keep more, stray strokes less


@dataclass(frozen=True, slots=True)
class Slot:
    """A cell of a grid before it has text; `rect` in px of the page."""

    row: int
    column: int
    row_span: int
    column_span: int
    rect: Rect


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows and columns with their borders.

    Attributes:
        ys, xs: borders in straightened px, rows + 1 and columns + 1 of them.
        open_sides: sides without a drawn border, of "left", "right", "top", "bottom".
    """

    rows: int
    columns: int
    slots: tuple[Slot, ...]
    ys: tuple[float, ...]
    xs: tuple[float, ...]
    warp: Warp
    open_sides: frozenset[str] = frozenset()

    @property
    def rect(self) -> Rect:
        """The whole grid on the page, px."""
        return Rect.around(slot.rect for slot in self.slots)

    def slot_at(self, x: float, y: float) -> Slot | None:
        """The slot at a straightened point, or None outside."""
        column, row = _interval(self.xs, x), _interval(self.ys, y)
        if column is None or row is None:
            return None
        return next((s for s in self.slots if covers(s, row, column)), None)


def covers(slot: Slot, row: int, column: int) -> bool:
    """Whether a slot takes up a place of the grid."""
    return slot.row <= row < slot.row + slot.row_span and slot.column <= column < slot.column + slot.column_span


def _interval(borders: Sequence[float], at: float) -> int | None:
    if not borders[0] <= at <= borders[-1]:
        return None
    return max(0, sum(b <= at for b in borders[:-1]) - 1)


# --- groups of lines that meet -------------------------------------------------------------------------------------


def groups(segments: Sequence[Segment], slack: float) -> list[list[Segment]]:
    """Segments that touch each other (within `slack` px), directly or through others; only those with a crossing."""
    parent = list(range(len(segments)))

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    boxes = np.array([(s.rect.x0, s.rect.y0, s.rect.x1, s.rect.y1) for s in segments]).reshape(-1, 4)
    low, high = boxes[:, :2] - slack, boxes[:, 2:] + slack
    for i, a in enumerate(segments):
        near = (low[i + 1 :] <= boxes[i, 2:]).all(axis=1) & (high[i + 1 :] >= boxes[i, :2]).all(axis=1)
        for j in (np.flatnonzero(near) + i + 1).tolist():
            if _meet(a, segments[j], slack):
                parent[root(i)] = root(j)
    several: dict[int, list[Segment]] = {}
    for n, segment in enumerate(segments):
        several.setdefault(root(n), []).append(segment)
    return [g for g in several.values() if sum(s.flat for s in g) >= 2 and sum(not s.flat for s in g) >= 1]


def _meet(a: Segment, b: Segment, slack: float) -> bool:
    if a.flat == b.flat:
        return _continues(a, b, slack)
    flat, plumb = (a, b) if a.flat else (b, a)
    x, y = plumb.across((flat.y0 + flat.y1) / 2), flat.across((plumb.x0 + plumb.x1) / 2)
    return flat.x0 - slack <= x <= flat.x1 + slack and plumb.y0 - slack <= y <= plumb.y1 + slack


def _continues(a: Segment, b: Segment, slack: float) -> bool:
    """Whether two segments of one direction are pieces of one line (tilted boxes overlap without that)."""
    low, high = (a.rect.x0, a.rect.x1) if a.flat else (a.rect.y0, a.rect.y1)
    other_low, other_high = (b.rect.x0, b.rect.x1) if b.flat else (b.rect.y0, b.rect.y1)
    joint = (max(low, other_low) + min(high, other_high)) / 2
    return abs(a.across(joint) - b.across(joint)) <= slack


# --- grid of one group ---------------------------------------------------------------------------------------------


def grid_of(group: Sequence[Segment], height: float) -> Grid | None:
    """The grid that a group of meeting segments draws, or None.

    Args:
        group: segments that meet.
        height: of a text line, px; rows and columns much smaller than it are not told apart.
    """
    warp = straightening(group)
    straight = [warp.segment(s) for s in group]
    flat = _clusters([s for s in straight if s.flat], 0.45 * height)
    plumb = _clusters([s for s in straight if not s.flat], 0.45 * height)
    plumb = [c for c in plumb if _carries(c, flat, height)]
    if len(flat) < 2 or not plumb:
        return None
    sides = _close(flat, plumb, height)
    if len(flat) < 2 or len(plumb) < 2:
        return None
    ys, xs = tuple(c.at for c in flat), tuple(c.at for c in plumb)
    slots = _slots(flat, plumb, warp)
    return Grid(len(ys) - 1, len(xs) - 1, slots, ys, xs, warp, sides)


@dataclass(slots=True)
class _Border:
    """Collinear segments: their common place across, and the pieces drawn along."""

    at: float
    runs: list[tuple[float, float]]

    def share(self, start: float, end: float) -> float:
        """Share of an interval that is drawn, 0-1."""
        drawn, reached = 0.0, start
        for a, b in sorted(self.runs):
            lower, upper = max(a, reached), min(b, end)
            if upper > lower:
                drawn += upper - lower
                reached = upper
        return drawn / max(1e-6, end - start)

    @property
    def start(self) -> float:
        return min(a for a, _ in self.runs)

    @property
    def end(self) -> float:
        return max(b for _, b in self.runs)


def _clusters(segments: Sequence[Segment], tolerance: float) -> list[_Border]:
    def across(s: Segment) -> float:
        return (s.y0 + s.y1) / 2 if s.flat else (s.x0 + s.x1) / 2

    found: list[list[Segment]] = []
    for s in sorted(segments, key=across):
        if found and across(s) - _mean(found[-1], across) <= tolerance:
            found[-1].append(s)
        else:
            found.append([s])
    return [_Border(_mean(c, across), [(s.x0, s.x1) if s.flat else (s.y0, s.y1) for s in c]) for c in found]


def _mean(cluster: Sequence[Segment], across) -> float:  # type: ignore[no-untyped-def]  # noqa: ANN001
    total = sum(max(s.length, 1e-6) for s in cluster)
    return float(sum(across(s) * max(s.length, 1e-6) for s in cluster) / total)


def _carries(border: _Border, flat: Sequence[_Border], height: float) -> bool:
    """Whether an upright border joins two flat ones somewhere (a letter's stroke does not)."""
    reach = 0.35 * height
    return any(
        border.start - reach <= upper.at and lower.at <= border.end + reach and border.share(upper.at, lower.at) > 0.6
        for upper, lower in pairwise(flat)
    )


def _close(flat: list[_Border], plumb: list[_Border], height: float) -> frozenset[str]:
    """Add the outer borders that are not drawn: flat lines that stick out past the last upright one, and so on."""
    sides: set[str] = set()
    left, right = _outer([b.start for b in flat], high=False), _outer([b.end for b in flat], high=True)
    top, bottom = _outer([b.start for b in plumb], high=False), _outer([b.end for b in plumb], high=True)
    span, depth = (flat[0].at, flat[-1].at), (plumb[0].at, plumb[-1].at)
    if left < plumb[0].at - height:
        plumb.insert(0, _Border(left, [(min(span[0], top), max(span[1], bottom))]))
        sides.add("left")
    if right > plumb[-1].at + height:
        plumb.append(_Border(right, [(min(span[0], top), max(span[1], bottom))]))
        sides.add("right")
    if top < flat[0].at - height:
        flat.insert(0, _Border(top, [(min(depth[0], left), max(depth[1], right))]))
        sides.add("top")
    if bottom > flat[-1].at + height:
        flat.append(_Border(bottom, [(min(depth[0], left), max(depth[1], right))]))
        sides.add("bottom")
    return frozenset(sides)


def _outer(ends: Sequence[float], *, high: bool) -> float:
    """Where most lines end: the second outermost of many, so that one long stray line does not count."""
    ordered = sorted(ends, reverse=high)
    return ordered[1] if len(ordered) > 3 else ordered[0]


def _slots(flat: Sequence[_Border], plumb: Sequence[_Border], warp: Warp) -> tuple[Slot, ...]:
    rows, columns = len(flat) - 1, len(plumb) - 1
    owner = [[r * columns + c for c in range(columns)] for r in range(rows)]
    for r in range(rows):
        for c in range(columns):
            if c + 1 < columns and plumb[c + 1].share(flat[r].at, flat[r + 1].at) < EDGE_SHARE:
                _merge(owner, owner[r][c], owner[r][c + 1])
            if r + 1 < rows and flat[r + 1].share(plumb[c].at, plumb[c + 1].at) < EDGE_SHARE:
                _merge(owner, owner[r][c], owner[r + 1][c])
    _rectangles(owner)
    return tuple(_slot(owner, name, flat, plumb, warp) for name in sorted({v for line in owner for v in line}))


def _merge(owner: list[list[int]], a: int, b: int) -> None:
    low, high = min(a, b), max(a, b)
    for line in owner:
        line[:] = [low if value == high else value for value in line]


def _rectangles(owner: list[list[int]]) -> None:
    """Cells that are no rectangles (a line piece was lost) are cut into rows, so that no two cells overlap."""
    for name in {v for line in owner for v in line}:
        places = [(r, c) for r, line in enumerate(owner) for c, v in enumerate(line) if v == name]
        rows, columns = {r for r, _ in places}, {c for _, c in places}
        if len(places) == len(rows) * len(columns) and len(columns) == max(columns) - min(columns) + 1:
            continue
        fresh = max(v for line in owner for v in line) + 1
        for r, c in places:
            same = c > 0 and owner[r][c - 1] == fresh - 1 and (r, c - 1) in places
            owner[r][c] = fresh - 1 if same else fresh
            fresh += 0 if same else 1


def _slot(owner: list[list[int]], name: int, flat: Sequence[_Border], plumb: Sequence[_Border], warp: Warp) -> Slot:
    places = [(r, c) for r, line in enumerate(owner) for c, v in enumerate(line) if v == name]
    r0, r1 = min(r for r, _ in places), max(r for r, _ in places)
    c0, c1 = min(c for _, c in places), max(c for _, c in places)
    rect = warp.rect_back(Rect(plumb[c0].at, flat[r0].at, plumb[c1 + 1].at, flat[r1 + 1].at))
    return Slot(r0, c0, r1 - r0 + 1, c1 - c0 + 1, rect)
