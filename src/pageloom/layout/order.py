"""Reading order: a page is cut along white gutters and ruled lines into columns, top to bottom inside each.

A gutter is an upright white strip with text on both sides. The tallest gutter is cut first: what stands above it is
read first, then the part on its left, the part on its right (mirrored for scripts from right to left), then what is
below; each part is cut again. Cutting gutters before gaps keeps columns whole where a classic XY-cut (Nagy & Seth
1984, widest gap of either kind first) tears them at every blank line that happens to run across.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pageloom.layout.pieces import Island, Piece, Placed, cjk_share, middle
from pageloom.model.image import Ruling

Thing = Piece | Island
_NUMERIC = re.compile(r"[\d.,%()$€£¥￥元\-–+/: ]+")


# Letters that fit into the narrowest gutter. Journals set 1-1.5 and detectors draw their boxes 0.2 wider on each side.
NARROWEST = 0.6


@dataclass(frozen=True, slots=True)
class Upright:
    """A drawn vertical line, points."""

    x: float
    y0: float
    y1: float


@dataclass(frozen=True, slots=True)
class Cutting:
    """How a page is cut: letter height of its text in points, its vertical rules, and its direction."""

    em: float
    uprights: tuple[Upright, ...] = ()
    rtl: bool = False


@dataclass(frozen=True, slots=True)
class _Gutter:
    x0: float
    x1: float
    y0: float
    y1: float

    @property
    def x(self) -> float:
        return (self.x0 + self.x1) / 2


@dataclass(frozen=True, slots=True)
class _Run:
    """Things without one that lies across a place; `roof` and `floor`: edges of those that do, above and below."""

    things: list[Thing]
    roof: float
    floor: float


def uprights_of(rulings: Sequence[Ruling], width: float, height: float) -> tuple[Upright, ...]:
    """The vertical ones among drawn lines, in points."""
    return tuple(
        Upright(line.x0 * width, min(line.y0, line.y1) * height, max(line.y0, line.y1) * height)
        for line in rulings
        if abs(line.x1 - line.x0) * width < 2 and abs(line.y1 - line.y0) * height > 12
    )


def columns(things: Sequence[Thing], how: Cutting, depth: int = 0) -> list[list[Thing]]:
    """Things in reading order, as a list of single columns (each sorted from top to bottom)."""
    if not things:
        return []
    # Deeper than 24 cuts no real page goes; a page made to hurt stops here.
    gutter = _best_gutter(things, how) if len(things) > 1 and depth < 24 else None
    if gutter is None:
        return [in_rows(things, rtl=how.rtl)]
    above, left, right, below = _parts(things, gutter)
    sides = (right, left) if how.rtl else (left, right)
    return [column for part in (above, *sides, below) for column in (columns(part, how, depth + 1) if part else [])]


def _parts(things: Sequence[Thing], gutter: _Gutter) -> tuple[list[Thing], list[Thing], list[Thing], list[Thing]]:
    above: list[Thing] = []
    left: list[Thing] = []
    right: list[Thing] = []
    below: list[Thing] = []
    for thing in things:
        y = (thing.y0 + thing.y1) / 2
        if y < gutter.y0:
            above.append(thing)
        elif y > gutter.y1:
            below.append(thing)
        elif (thing.x0 + thing.x1) / 2 < gutter.x:
            left.append(thing)
        else:
            right.append(thing)
    return above, left, right, below


def _best_gutter(things: Sequence[Thing], how: Cutting) -> _Gutter | None:
    best: tuple[float, _Gutter] | None = None
    by_y = sorted(things, key=lambda thing: thing.y0)
    edges = sorted({round(thing.x0 / 3) * 3 for thing in things})
    for edge in edges[1:]:
        for run in _runs(by_y, edge - 0.5, how.em):
            gutter = _gutter(run, edge - 0.5, how)
            if gutter is None:
                continue
            worth = _height(run.things, gutter) * min(3.0, (gutter.x1 - gutter.x0) / how.em) ** 0.25
            if best is None or worth > best[0]:
                best = worth, gutter
    return best[1] if best else None


def _runs(by_y: Sequence[Thing], x: float, em: float) -> list[_Run]:
    """Stretches of things, from top to bottom, without one that lies across `x`."""
    runs: list[_Run] = []
    run: list[Thing] = []
    roof = floor = float("-inf")  # bottom of the last thing that lay across: when the run began, and now
    for thing in by_y:
        if thing.x0 < x - 2 and thing.x1 > x + 2:
            runs.append(_Run(run, roof, thing.y0))
            run, floor = [], max(floor, thing.y1)
            roof = floor
        elif thing_mid(thing) > floor - 0.2 * em:
            run.append(thing)
    runs.append(_Run(run, roof, float("inf")))
    return [run for run in runs if len(run.things) > 1]


def thing_mid(thing: Placed) -> float:
    """Height of its middle, points."""
    return (thing.y0 + thing.y1) / 2


def _gutter(run: _Run, x: float, how: Cutting) -> _Gutter | None:
    """The gutter at `x` inside a run, or None where it parts nothing that is read apart."""
    left = [thing for thing in run.things if (thing.x0 + thing.x1) / 2 < x]
    right = [thing for thing in run.things if (thing.x0 + thing.x1) / 2 >= x]
    if not left or not right:
        return None
    x0, x1 = max(thing.x1 for thing in left), min(thing.x0 for thing in right)
    top = max(min(thing.y0 for thing in left), min(thing.y0 for thing in right))
    bottom = min(max(thing.y1 for thing in left), max(thing.y1 for thing in right))
    if bottom - top < 1.2 * how.em:
        return None
    ruled = _ruled(x0, x1, top, bottom, how)
    if x1 - x0 < (0 if ruled else NARROWEST * how.em) or not (ruled or _apart(left, right, x1 - x0, how)):
        return None
    # What stands only on the right and above the left column begins its own line of thought.
    start = min(thing.y0 for thing in left) - 2 * how.em
    inside = _without_loose_ends([thing for thing in run.things if thing_mid(thing) >= start], run, top, bottom)
    return _Gutter(x0, x1, min(t.y0 for t in inside) - 0.1, max(t.y1 for t in inside) + 0.1)


def _without_loose_ends(things: list[Thing], run: _Run, top: float, bottom: float) -> list[Thing]:
    """A run without what stands beyond one column's end and nearer to what lies across: a title of the next part."""
    kept = sorted(things, key=lambda thing: thing.y0)
    for place in range(len(kept) - 1, 0, -1):
        gap = kept[place].y0 - max(thing.y1 for thing in kept[:place])
        if kept[place].y0 < bottom:
            break
        if gap > 2 * (run.floor - kept[-1].y1) and gap > kept[place].y1 - kept[place].y0:
            kept = kept[:place]
            break
    for place in range(1, len(kept)):
        gap = kept[place].y0 - max(thing.y1 for thing in kept[:place])
        if kept[place - 1].y1 > top:
            break
        if gap > 2 * (kept[0].y0 - run.roof) and gap > kept[place - 1].y1 - kept[place - 1].y0:
            return kept[place:]
    return kept


def _ruled(x0: float, x1: float, top: float, bottom: float, how: Cutting) -> bool:
    for line in how.uprights:
        if x0 - 3 <= line.x <= x1 + 3 and min(bottom, line.y1) - max(top, line.y0) > 0.7 * (bottom - top):
            return True
    return False


def _height(run: Sequence[Thing], gutter: _Gutter) -> float:
    """How far both sides of a gutter stand side by side, points."""
    left = [thing for thing in run if (thing.x0 + thing.x1) / 2 < gutter.x]
    right = [thing for thing in run if (thing.x0 + thing.x1) / 2 >= gutter.x]
    top = max(min(thing.y0 for thing in left), min(thing.y0 for thing in right))
    return min(max(thing.y1 for thing in left), max(thing.y1 for thing in right)) - top


def _apart(left: Sequence[Thing], right: Sequence[Thing], gap: float, how: Cutting) -> bool:
    """Whether two sides are columns of their own, not labels with their values or cells of one row."""
    first, second = _pieces(left), _pieces(right)
    if len(first) < len(left) or len(second) < len(right):  # an island on either side: text beside a figure
        return len(left) + len(right) > 2 or gap > how.em
    if len(first) < 2 or len(second) < 2:
        return False
    if _running(first) and _running(second):
        return True
    level = _aligned(first, second)
    if level >= 0.5 and (_labels(first) or _numbers(second)):
        return False
    if _running(first) or _running(second):  # notes beside running text, but not a row's value beside its long label
        return level < 0.8 and _dense(first) and _dense(second)
    return gap > 2.5 * how.em and _dense(first) and _dense(second)


def _pieces(things: Sequence[Thing]) -> list[Piece]:
    return [thing for thing in things if isinstance(thing, Piece)]


def _running(pieces: Sequence[Piece]) -> bool:
    """Running text, in one column or several: most of it in lines that have another of about their length close by."""
    if len(pieces) < 3:
        return False
    by_y = sorted(pieces, key=lambda piece: piece.mid)
    inside: set[int] = set()
    for place, piece in enumerate(by_y):
        for other in by_y[place + 1 :]:
            if other.mid - piece.mid > 2.3 * piece.em:
                break
            if _same_paragraph(piece, other):
                inside |= {id(piece), id(other)}
    whole = sum(piece.x1 - piece.x0 for piece in pieces)
    return sum(piece.x1 - piece.x0 for piece in pieces if id(piece) in inside) > 0.6 * whole


def _same_paragraph(piece: Piece, other: Piece) -> bool:
    short, long = sorted((piece.x1 - piece.x0, other.x1 - other.x0))
    near = other.mid - piece.mid > 0.6 * piece.em and abs(other.x0 - piece.x0) < 2.5 * piece.em
    return near and short > 9 * piece.em and short > 0.7 * long


def _aligned(left: Sequence[Piece], right: Sequence[Piece]) -> float:
    """Share of the shorter side's lines that stand level with a line of the other side, 0-1."""
    few, many = sorted((left, right), key=len)
    level = sum(any(abs((one.y0 + one.y1) - (other.y0 + other.y1)) < 0.5 * one.em for other in many) for one in few)
    return level / len(few)


def _labels(pieces: Sequence[Piece]) -> bool:
    """Labels of a form: most end with a colon."""
    ends = sum(piece.text.endswith((":", "：")) for piece in pieces)
    return ends >= 0.5 * len(pieces)


def _numbers(pieces: Sequence[Piece]) -> bool:
    """Mostly numbers: values of a row."""
    return sum(bool(_NUMERIC.fullmatch(piece.text)) for piece in pieces) > 0.5 * len(pieces)


def _dense(pieces: Sequence[Piece]) -> bool:
    """Lines follow each other as in a paragraph or an address."""
    tops = sorted(pieces, key=lambda piece: piece.y0)
    gaps = [(low.y0 - high.y1) / high.em for high, low in pairwise(tops)]
    return middle(gaps, 9.0) < (1.0 if cjk_share("".join(piece.text for piece in pieces)) < 0.5 else 1.3)


def in_rows(things: Sequence[Thing], *, rtl: bool = False) -> list[Thing]:
    """Things of one column from top to bottom; those that stand level are read along the line."""
    rows: list[list[Thing]] = []
    for thing in sorted(things, key=lambda one: (one.y0 + one.y1) / 2):
        if rows and _level(rows[-1], thing):
            rows[-1].append(thing)
        else:
            rows.append([thing])
    sign = -1 if rtl else 1
    return [thing for row in rows for thing in sorted(row, key=lambda one: sign * one.x0)]


def _level(row: Sequence[Placed], thing: Placed) -> bool:
    """Whether a thing stands level with the last row: they overlap by most of the lower one's height."""
    last = row[-1]
    overlap = min(last.y1, thing.y1) - max(last.y0, thing.y0)
    return overlap > 0.55 * min(last.y1 - last.y0, thing.y1 - thing.y0)
