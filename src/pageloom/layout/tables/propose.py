"""Where tables without drawn cells stand: between horizontal rules, or rows whose words keep to columns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pageloom.layout.tables.frame import Piece, Rect, overlap
from pageloom.layout.tables.rulings import Segment
from pageloom.layout.tables.text import visual_rows

NUMBER = re.compile(r"^[\s(\[<>≤≥~±+\-–—−$€£¥￥]*\d[\d\s.,:/%()\[\]eE×x*±+\-–—−~～<>≤≥′'°A-Za-z‰元万亿]{0,18}$")
FORMULA = re.compile(r"[=∫∑∂∇√≡∈]")
ENDS, LONG = 4, 8  # rows of text taken off a run that stays at least so long
ONLY = 0.85  # share of a page's text from which on it is a picture of one table
SHORT = 28  # letters; longer pieces are running text rather than entries of a table


@dataclass(frozen=True, slots=True)
class Columns:
    """How far rows of text keep to columns.

    Attributes:
        count: of columns; 0 when they are running text or keep to none.
        rows: with at least two pieces.
        filled: share of the places of those rows that have text, 0-1.
        several: share of the rows that have at least two pieces, 0-1.
    """

    count: int
    rows: int
    filled: float
    several: float = 1.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """A place where a table may stand; `strong` when rules bound it, `only` when the page holds nothing else."""

    rect: Rect
    strong: bool
    columns: Columns
    rules: int = 0
    only: bool = False

    @property
    def alone(self) -> bool:
        """Whether it is believed without a layout model that proposes the same place."""
        if self.only and self.rules >= 3:
            return True
        if self.strong:
            # Head and foot rule alone also part the questions of an exam; a table has a third below its head.
            several = 0.35 if self.rules >= 3 else 0.6
            return self.columns.count >= 2 and self.columns.filled >= 0.55 and self.columns.several >= several
        return self.columns.count >= 3 and self.columns.rows >= 4 and self.columns.filled >= 0.6


def numeric(text: str) -> bool:
    """Whether a piece is a number with at most a unit, sign or range."""
    return bool(NUMBER.match(text)) and sum(sign.isdigit() for sign in text) * 2 >= len(text.replace(" ", "")) - 4


def proposals(
    pieces: Sequence[Piece], fine: Sequence[Piece], segments: Sequence[Segment], height: float
) -> list[Proposal]:
    """Own proposals, those bounded by rules first.

    Args:
        pieces: text cut at wide gaps.
        fine: text cut at narrow gaps too; believed between rules only.
        segments: straight lines of the page.
        height: of a text line, px.
    """
    found = _between_rules(fine, pieces, segments, height)
    free = [p for p in pieces if not any(f.rect.holds(*p.rect.center) for f in found)]
    for run in _runs(visual_rows(free), height):
        rows = _without_ends(run, height)
        columns = columned(rows, height)
        if columns.count >= 2:
            rect = _with_label_below(Rect.around(p.rect for row in rows for p in row), rows, free, height)
            found.append(Proposal(rect, strong=False, columns=columns))
    return found


# --- between rules -------------------------------------------------------------------------------------------------


def _between_rules(
    pieces: Sequence[Piece], coarse: Sequence[Piece], segments: Sequence[Segment], height: float
) -> list[Proposal]:
    """Areas between rules of one length and place ("booktabs"), when what lies between keeps to columns."""
    found: list[Proposal] = []
    rules = sorted((s for s in segments if s.flat and s.length > 6 * height), key=lambda s: s.y0)
    used: set[int] = set()
    for first, rule in enumerate(rules):
        if first in used:
            continue
        family = [n for n in range(first, len(rules)) if _alike(rule, rules[n], height)]
        family = _broken_off(family, rules, pieces, height)
        if len(family) < 2:
            continue
        rect = Rect.around(rules[n].rect for n in family)
        used.update(family)
        if not any(f.rect.intersection(rect) > 0 for f in found) and _bounds(rect, pieces, height):
            rect = _extended(rect, coarse, height)
            inside = visual_rows([p for p in pieces if rect.holds(*p.rect.center)])
            page = Rect.around(p.rect for p in pieces)
            only = rect.intersection(page) > ONLY * page.area
            found.append(
                Proposal(
                    rect,
                    strong=True,
                    columns=columned(inside, height, ruled=len(family) >= 4),
                    rules=len(family),
                    only=only,
                )
            )
    return found


def _bounds(rect: Rect, pieces: Sequence[Piece], height: float) -> bool:
    """Whether rules reach as far as the text between them: underlined columns of a wider table do not."""
    level = [p for p in pieces if rect.y0 < p.rect.center[1] < rect.y1]
    near = Rect(rect.x0 - 4 * height, rect.y0, rect.x1 + 4 * height, rect.y1)
    outside = [p for p in level if near.intersection(p.rect) > 0 and not rect.holds(*p.rect.center)]
    return len(outside) <= 0.2 * len(visual_rows(level))


def _extended(rect: Rect, pieces: Sequence[Piece], height: float) -> Rect:
    """Rules may stand between rows only: rows right above and below that keep to the same columns belong to it."""
    rows = visual_rows(pieces)
    spans = columns_of([row for row in rows if rect.holds(*row[0].rect.center)], height)
    for row in [*sorted(rows, key=lambda r: -r[0].rect.y0), *rows]:
        own = Rect.around(p.rect for p in row)
        gap = max(rect.y0 - own.y1, own.y0 - rect.y1)
        if 1.2 * height > gap > -0.6 * height and not rect.holds(*own.center) and _fits(row, spans, height):
            rect = Rect.around([rect, own])
    return rect


def _fits(row: Sequence[Piece], spans: Sequence[tuple[float, float]], height: float) -> bool:
    """Whether a row has several entries, each in the columns found (a group's head may span some)."""
    if len(spans) < 2 or len(row) < 2:
        return False
    edge = [(a - height, b + height) for a, b in spans]
    inside = all(p.rect.x0 >= edge[0][0] and p.rect.x1 <= edge[-1][1] for p in row)
    heads = all(sum(overlap(p.rect.x0, p.rect.x1, a, b) > 0.5 * height for a, b in spans) <= 3 for p in row)
    return inside and heads


def _alike(a: Segment, b: Segment, height: float) -> bool:
    return abs(a.x0 - b.x0) < 1.5 * height and abs(a.x1 - b.x1) < 1.5 * height


def _broken_off(family: Sequence[int], rules: Sequence[Segment], pieces: Sequence[Piece], height: float) -> list[int]:
    """The first rules of a family, as long as the text between two of them is no running text."""
    kept = list(family[:1])
    columns = 0
    for upper, lower in pairwise(family):
        a, b = rules[upper], rules[lower]
        area = Rect(min(a.x0, b.x0), (a.y0 + a.y1) / 2, max(a.x1, b.x1), (b.y0 + b.y1) / 2)
        rows = visual_rows([p for p in pieces if area.holds(*p.rect.center)])
        if not rows and area.height > 3 * height:
            break
        count = columned(rows, height).count
        if count < 2 and len(rows) > 2 and sum(len(row) >= 2 for row in rows) < 0.5 * len(rows):
            break
        columns = max(columns, count, max((len(row) for row in rows), default=0) if len(rows) <= 2 else 0)
        kept.append(lower)
    return kept if columns >= 2 else kept[:1]


# --- rows that keep to columns -------------------------------------------------------------------------------------


def _runs(rows: Sequence[Sequence[Piece]], height: float) -> list[list[Sequence[Piece]]]:
    """Consecutive rows with several pieces each; one row with a single piece between them is allowed."""
    found: list[list[Sequence[Piece]]] = []
    between: list[Sequence[Piece]] = []
    bottom = 0.0
    for row in sorted(rows, key=lambda r: r[0].rect.center[1]):
        near = bool(found) and row[0].rect.y0 - bottom < 2.2 * height
        bottom = max(p.rect.y1 for p in row)
        if len(row) < 2:
            between.append(row)
            continue
        if near and _first_column(between, found[-1] + [row]):
            found[-1] += [*between, row]
        else:
            found.append([row])
        between = []
    return [run for run in found if sum(len(row) >= 2 for row in run) >= 3]


def _without_ends(run: Sequence[Sequence[Piece]], height: float) -> Sequence[Sequence[Piece]]:
    """A run less the few rows of running text (justified, with wide gaps) that came with it above or below."""
    for dropped in range(ENDS + 1):
        for head in range(dropped + 1):
            rows = run[head : len(run) - (dropped - head)]
            if len(rows) >= LONG and columned(rows, height).count >= 4:
                return rows
    return run


def _first_column(between: Sequence[Sequence[Piece]], rows: Sequence[Sequence[Piece]]) -> bool:
    """Whether single pieces between rows stay in the first column (wrapped labels); one of any kind is allowed."""
    second = min(row[1].rect.x0 for row in rows if len(row) >= 2)
    return len(between) <= 1 or (len(between) <= 6 and all(row[0].rect.x1 < second for row in between))


def _with_label_below(rect: Rect, rows: Sequence[Sequence[Piece]], pieces: Sequence[Piece], height: float) -> Rect:
    """The last row's label may go on below it, in the first column."""
    second = min(row[1].rect.x0 for row in rows if len(row) >= 2)
    for piece in sorted(pieces, key=lambda p: p.rect.y0):
        below = -0.5 * height < piece.rect.y0 - rect.y1 < 0.8 * height
        if below and piece.rect.x0 >= rect.x0 - height and piece.rect.x1 < second:
            rect = Rect.around([rect, piece.rect])
    return rect


def columned(rows: Sequence[Sequence[Piece]], height: float, *, ruled: bool = False) -> Columns:
    """How rows keep to columns: stretches of x between gaps that (nearly) all rows leave free.

    Args:
        rows: of text, each from left to right.
        height: of a text line, px.
        ruled: rules part the rows, so that two columns of words are entries too.
    """
    pieces = [p for row in rows for p in row]
    spans = columns_of(rows, height) if pieces else []
    if len(spans) < 2:
        return Columns(0, len(rows), 0.0)
    numbers = sum(numeric(p.text) for p in pieces) / len(pieces)
    short = sum(len(p.text) <= SHORT for p in pieces) / len(pieces)
    several = [row for row in rows if len(row) >= 2]
    filled = sum(len(row) for row in several) / max(1, len(several) * len(spans))
    running = sum(len(row) == 1 and len(row[0].text) > SHORT and row[0].rect.x1 > spans[1][0] for row in rows)
    formulas = sum(bool(FORMULA.search(p.text)) for p in pieces) / len(pieces)
    tabular = numbers >= 0.25 or (short >= 0.85 and len(spans) >= 3) or (ruled and short >= 0.6)
    if not tabular or filled < 0.4 or running > 0.25 * len(rows) or formulas >= 0.3:
        return Columns(0, len(rows), filled)
    return Columns(len(spans), len(several), filled, len(several) / len(rows))


def columns_of(rows: Sequence[Sequence[Piece]], height: float) -> list[tuple[float, float]]:
    """Ranges of x of the columns: merged extents of the pieces, those that bridge a gap found by most rows left out."""
    several = [row for row in rows if len(row) >= 2]
    pieces = [p for row in several for p in row] or [p for row in rows for p in row]
    marks = sorted({p.rect.x0 for p in pieces} | {p.rect.x1 for p in pieces})
    limit = max(0.0, 0.12 * len(several))
    spans: list[list[float]] = []
    for a, b in pairwise(marks):
        count = sum(p.rect.x0 < (a + b) / 2 < p.rect.x1 for p in pieces)
        if count <= limit:
            continue
        if spans and a - spans[-1][1] < 0.45 * height:
            spans[-1][1] = b
        else:
            spans.append([a, b])
    return [(a, b) for a, b in spans if overlap(a, b, a, b) > 0.3 * height]
