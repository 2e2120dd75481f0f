"""Lines measured in points: what reading order and paragraphs are computed from."""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Protocol

from pageloom.layout.page import LayoutPage
from pageloom.model.blocks import Block
from pageloom.model.geometry import Box
from pageloom.model.image import TextLine

# Detectors draw their boxes a little outside the letters: box height over letter height, measured on PP-OCR lines.
BOX_OVER_EM = 1.2


class Placed(Protocol):
    """Anything with a place on the page, in points, y down."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(slots=True, eq=False)
class Piece:
    """One found line; coordinates in points (turned along the reading direction for vertical pages).

    Attributes:
        index: place of the line in `LayoutPage.lines`.
        em: height of the letters in points.
        flat: False for lines that run sideways to the reading direction of the page.
        under: the denominator of a stacked fraction, or the line whose first letter stands large before it.
        bar: what stands between the two where they are written in one line.
    """

    line: TextLine
    index: int
    x0: float
    y0: float
    x1: float
    y1: float
    em: float
    flat: bool = True
    under: "Piece | None" = None
    bar: str = "/"

    @property
    def text(self) -> str:
        """Its words; a stacked fraction or a large first letter in one line."""
        text = self.line.text.strip()
        return text if self.under is None else f"{text}{self.bar}{self.under.line.text.strip()}"

    @property
    def mid(self) -> float:
        """Height of its middle, points."""
        return (self.y0 + self.y1) / 2

    def single(self) -> "list[Piece]":
        """The lines it is made of."""
        return [self] if self.under is None else [self, self.under]


@dataclass(slots=True, eq=False)
class Island:
    """A region that is one thing for the reading order; coordinates in points.

    Attributes:
        kind: what the region is ("table", "figure", "formula", "form", "seal", "signature").
        block: what another finder made of it already, or None.
        inside: lines that belong to the region and to nothing else.
        groups: lines of each drawn box of a form, in reading order.
    """

    kind: str
    box: Box
    x0: float
    y0: float
    x1: float
    y1: float
    block: Block | None = None
    inside: list[Piece] = field(default_factory=list)
    groups: list[list[Piece]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Frame:
    """Width and height of the page in points, and whether its lines stand upright (vertical script)."""

    width: float
    height: float
    vertical: bool = False

    def place(self, box: Box) -> tuple[float, float, float, float]:
        """Corners in points; on vertical pages turned so that lines run to the right and follow downwards."""
        x0, y0, x1, y1 = box.x0 * self.width, box.y0 * self.height, box.x1 * self.width, box.y1 * self.height
        return (y0, self.width - x1, y1, self.width - x0) if self.vertical else (x0, y0, x1, y1)


def is_cjk(char: str) -> bool:
    """Whether a character is written without spaces: Han, kana, their punctuation and full-width forms."""
    code = ord(char)
    return (
        0x2E80 <= code <= 0x312F
        or 0x31A0 <= code <= 0x9FFF
        or 0xF900 <= code <= 0xFAFF
        or 0xFE30 <= code <= 0xFE4F
        or 0xFF00 <= code <= 0xFFEF
        or 0x20000 <= code <= 0x3FFFF
    )


def cjk_share(text: str) -> float:
    """Share of CJK characters among all that are not white space, 0-1."""
    letters = [char for char in text if not char.isspace()]
    return sum(map(is_cjk, letters)) / len(letters) if letters else 0.0


def is_rtl(text: str) -> bool:
    """Whether most letters run from right to left (Arabic, Hebrew)."""
    kinds = [unicodedata.bidirectional(char) for char in text]
    right = sum(kind in {"R", "AL"} for kind in kinds)
    return right > 0 and right > sum(kind == "L" for kind in kinds)


def frame_of(page: LayoutPage) -> Frame:
    """The page's frame; pixels tell its proportions where they are there."""
    width, height = page.size.width, page.size.height
    if page.image is not None and page.image.dpi > 0:
        rows, columns = page.image.rgb.shape[:2]
        width, height = columns * 72 / page.image.dpi, rows * 72 / page.image.dpi
    width, height = max(width, 1.0), max(height, 1.0)
    letters = upright = 0
    for line in page.lines:
        letters += len(line.text)
        upright += len(line.text) if _upright_script(line, width, height) else 0
    return Frame(width, height, vertical=upright > letters / 2)


def _upright_script(line: TextLine, width: float, height: float) -> bool:
    tall = line.box.height * height > 2 * line.box.width * width
    return tall and len(line.text) > 1 and cjk_share(line.text) > 0.5


def measure(page: LayoutPage, frame: Frame) -> list[Piece]:
    """The page's lines with words in them, measured; the order is kept.

    A detector may find a line twice, whole and in part: the part is left out.
    """
    pieces = [_piece(index, page, frame) for index, line in enumerate(page.lines) if line.text.strip()]
    letters = sum(len(piece.line.text) for piece in pieces)
    if sum(len(piece.line.text) for piece in pieces if piece.line.mono) > 0.5 * letters:
        for piece in pieces:  # a page typed in one monospaced font says nothing about what is a program
            piece.line = replace(piece.line, mono=False)
    return pieces if page.basis == "text-layer" else _once(pieces)


def _once(pieces: Sequence[Piece]) -> list[Piece]:
    doubled: set[int] = set()
    by_y = sorted(pieces, key=lambda piece: piece.y0)
    for place, one in enumerate(by_y):
        for other in by_y[place + 1 :]:
            if other.y0 > one.y1:
                break
            small, large = sorted((one, other), key=lambda piece: piece.line.box.area)
            if small.line.box.covered_by(large.line.box) > 0.7 and small.line.text.strip() in large.line.text:
                doubled.add(id(small))
    return [piece for piece in pieces if id(piece) not in doubled]


def _piece(index: int, page: LayoutPage, frame: Frame) -> Piece:
    line = page.lines[index]
    x0, y0, x1, y1 = frame.place(line.box)
    turned = abs(math.sin(math.radians(line.angle))) > 0.7
    flat = turned == frame.vertical or _upright_script(line, frame.width, frame.height) == frame.vertical
    if not frame.vertical:
        flat = not turned and not ((y1 - y0) > 2 * (x1 - x0) and len(line.text) > 3)
    thick = min(x1 - x0, y1 - y0) if not flat else y1 - y0
    em = line.size if line.size > 0 else thick / BOX_OVER_EM
    return Piece(line, index, x0, y0, x1, y1, max(em, 1.0), flat)


def common_em(pieces: Iterable[Piece]) -> float:
    """Letter height of the running text in points: the median over characters."""
    sizes: list[tuple[float, int]] = sorted((piece.em, len(piece.line.text)) for piece in pieces)
    total, run = sum(count for _, count in sizes), 0
    for em, count in sizes:
        run += count
        if run * 2 >= total:
            return em
    return 10.0


def text_edge(pieces: Sequence[Piece]) -> float:
    """The left edge that most running text keeps, points; 0 where there is none."""
    edges: dict[int, int] = {}
    for piece in pieces:
        if len(piece.line.text) > 20:
            edge = round(piece.x0 / 6)
            edges[edge] = edges.get(edge, 0) + 1
    return max(edges, key=lambda edge: (edges[edge], -edge)) * 6.0 if edges else 0.0


def around(several: Sequence[Placed]) -> tuple[float, float, float, float]:
    """The smallest rectangle around placed things (at least one), in points."""
    return (
        min(one.x0 for one in several),
        min(one.y0 for one in several),
        max(one.x1 for one in several),
        max(one.y1 for one in several),
    )


def middle(numbers: Iterable[float], otherwise: float) -> float:
    """The median, or `otherwise` of nothing."""
    several = list(numbers)
    return median(several) if several else otherwise
