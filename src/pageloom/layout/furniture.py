"""Running headers, running footers and page numbers, as far as one page alone can tell them.

What repeats over the pages of a document is found by assembly; here position, shape and the layout model speak.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from pageloom.layout.pieces import Frame, Piece, around, common_em
from pageloom.layout.regions import FoundRegion
from pageloom.layout.rows import Row, rows_of
from pageloom.model.image import Ruling

Furniture = Literal["running_header", "running_footer", "page_number"]

MARGIN = 0.085  # share of the page's height at its head and foot where furniture stands
MARGIN_BY_MODEL = 0.16  # where the layout model may call something a header or footer
MODEL_SCORE = 0.5
LARGEST_BY_MODEL = 1.2  # letters over those of the running text; larger ones are a title, whatever the model says
PAGE_NUMBER = re.compile(
    r"[\s\-–—~·|.\[(]*(?:page|pg\.?|p\.|seite|página|pagina|第)?\s*"
    r"(?:\d{1,4}|[ivxlcdm]{1,7}|[A-Z]-\d{1,3}|\d{1,2}-\d{1,3}|[一二三四五六七八九十百]{1,4}(?=\s*页))\s*"
    r"(?:(?:of|/|von|de|sur|页\s*[,，/]?\s*共|页)\s*\d{0,4}\s*页?)?[\s\-–—~·|.\])]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Furnished:
    """A page's furniture: rows with their kind, heads first, and the lines that are left."""

    heads: list[tuple[Furniture, Row]]
    feet: list[tuple[Furniture, Row]]
    rest: list[Piece]


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a page beside its lines: regions of the layout model, drawn lines."""

    regions: Sequence[FoundRegion] = ()
    rulings: Sequence[Ruling] = ()


@dataclass(frozen=True, slots=True)
class _Edge:
    """One end of the page, measured so that heads and feet are judged alike.

    Attributes:
        rows: from the edge inwards.
        body: letter height of the page's running text, points.
    """

    side: Literal["head", "foot"]
    rows: list[Row]
    frame: Frame
    body: float
    seen: Seen

    @property
    def head(self) -> bool:
        """Whether it is the upper end."""
        return self.side == "head"

    def depth(self, row: Row) -> float:
        """How far a row's middle is from the edge, share of the page's height."""
        y = (row.y0 + row.y1) / 2 / self.frame.height
        return y if self.head else 1 - y

    def gap(self, place: int) -> float:
        """White space between a row and the next one inwards, in letters of the running text."""
        if place + 1 >= len(self.rows):
            return 99.0
        row, inner = self.rows[place], self.rows[place + 1]
        return (inner.y0 - row.y1 if self.head else row.y0 - inner.y1) / self.body


def split_furniture(pieces: Sequence[Piece], free: Sequence[Piece], frame: Frame, seen: Seen) -> Furnished:
    """Take running headers, footers and page numbers out of a page's lines.

    Args:
        pieces: all lines of the page.
        free: those that are in no table or figure; only they can be furniture.
        frame: the page.
        seen: what else is known of the page.
    """
    flat = sorted((piece for piece in pieces if piece.flat), key=lambda piece: piece.mid)
    if frame.vertical or len(flat) < 4:
        return Furnished([], [], list(free))
    body = common_em(flat)
    rows = [_sorted(row) for row in rows_of(flat)]
    loose = {id(piece) for piece in free}
    heads = _furniture(_Edge("head", rows, frame, body, seen), loose)
    feet = _furniture(_Edge("foot", rows[::-1], frame, body, seen), loose)
    taken = {id(piece) for _, row in heads + feet for piece in row.pieces}
    if len(taken) >= len(flat):
        return Furnished([], [], list(free))
    return Furnished(heads, feet[::-1], [piece for piece in free if id(piece) not in taken])


def _sorted(row: Row) -> Row:
    row.pieces.sort(key=lambda piece: piece.x0)
    return rows_of(row.pieces)[0] if len(row.pieces) > 1 else row


def _furniture(edge: _Edge, loose: set[int]) -> list[tuple[Furniture, Row]]:
    found: list[tuple[Furniture, Row]] = []
    for place, row in enumerate(edge.rows[:6]):
        kind = _kind(edge, place, row)
        if kind is None or not all(id(piece) in loose for piece in row.pieces):
            break
        found += _with_number(kind, row)
    return found


def _kind(edge: _Edge, place: int, row: Row) -> Furniture | None:
    """What a row near the edge is, or None for the page's own text."""
    side: Furniture = "running_header" if edge.head else "running_footer"
    depth, gap = edge.depth(row), edge.gap(place)
    if depth < MARGIN_BY_MODEL and row.em < LARGEST_BY_MODEL * edge.body and _by_model(edge, row):
        return side
    if depth < MARGIN_BY_MODEL and place == 0 and _book_head(edge, row):
        return side
    # On a photo the sheet ends before the picture does: a page number is one far from the edge too, if it stands alone.
    if PAGE_NUMBER.fullmatch(row.text) and gap > (0.3 if depth < MARGIN else 2.5):
        return "page_number"
    if depth > MARGIN:
        return None
    if len(row.text) > 140 or row.em > 1.25 * edge.body:
        return None
    small = row.em < 0.93 * edge.body
    return side if _ruled(edge, row) or (gap > 1.0 and (small or _numbered(row))) else None


def _by_model(edge: _Edge, row: Row) -> bool:
    wanted = "header" if edge.head else "footer"
    x0, y0, x1, y1 = around(row.pieces)
    for region in edge.seen.regions:
        box = region.box
        if region.kind != wanted or region.score < MODEL_SCORE:
            continue
        wide = min(x1, box.x1 * edge.frame.width) - max(x0, box.x0 * edge.frame.width)
        high = min(y1, box.y1 * edge.frame.height) - max(y0, box.y0 * edge.frame.height)
        if wide > 0.5 * (x1 - x0) and high > 0.5 * (y1 - y0):
            return True
    return False


def _ruled(edge: _Edge, row: Row) -> bool:
    """Whether a long drawn line parts the row from the text."""
    for line in edge.seen.rulings:
        if abs(line.y1 - line.y0) * edge.frame.height > 2 or abs(line.x1 - line.x0) < 0.4:
            continue
        inward = line.y0 * edge.frame.height - row.y1 if edge.head else row.y0 - line.y0 * edge.frame.height
        if -0.3 * row.em < inward < 1.2 * row.em:
            return True
    return False


def _numbered(row: Row) -> bool:
    """Whether a page number stands at either end of a row, apart from the rest."""
    ends = (row.pieces[0].text, row.pieces[-1].text)
    return len(row.pieces) > 1 and any(PAGE_NUMBER.fullmatch(text) for text in ends)


def _book_head(edge: _Edge, row: Row) -> bool:
    """A page number at one end, a title apart from it, and running text next: the head line of a book."""
    if not (2 <= len(row.pieces) <= 4 and _numbered(row) and len(edge.rows) > 3) or row.em > 1.2 * edge.body:
        return False
    apart = all(other.x0 - one.x1 > 2 * row.em for one, other in pairwise(row.pieces))
    inner = edge.rows[1]
    return apart and len(inner.pieces) == 1 and len(inner.text) > 30 and any(char.isalpha() for char in row.text)


def _with_number(kind: Furniture, row: Row) -> list[tuple[Furniture, Row]]:
    """A row of furniture, its page number taken apart."""
    if kind == "page_number" or PAGE_NUMBER.fullmatch(row.text):
        return [("page_number", row)]
    if len(row.pieces) < 2:
        return [(kind, row)]
    numbers = [piece for piece in row.pieces if PAGE_NUMBER.fullmatch(piece.text)]
    others = [piece for piece in row.pieces if piece not in numbers]
    if len(numbers) != 1 or not others:
        return [(kind, row)]
    return [(kind, rows_of(others)[0]), ("page_number", rows_of(numbers)[0])]
