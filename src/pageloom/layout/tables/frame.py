"""The measuring frame of table finding: pixels of the page image, or 150 dpi where there are none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from pageloom.layout.page import LayoutPage
from pageloom.model.blocks import Word
from pageloom.model.geometry import Box
from pageloom.model.image import TextLine

DPI_WITHOUT_PIXELS = 150.0


@dataclass(frozen=True, slots=True)
class Rect:
    """An upright rectangle in pixels of the frame, y down."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Width, px."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Height, px."""
        return self.y1 - self.y0

    @property
    def center(self) -> tuple[float, float]:
        """Middle point (x, y)."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    @property
    def area(self) -> float:
        """Area, px²."""
        return max(0.0, self.width) * max(0.0, self.height)

    def holds(self, x: float, y: float, slack: float = 0.0) -> bool:
        """Whether a point lies inside, `slack` px outside included."""
        return self.x0 - slack <= x <= self.x1 + slack and self.y0 - slack <= y <= self.y1 + slack

    def intersection(self, other: "Rect") -> float:
        """Shared area, px²."""
        return max(0.0, overlap(self.x0, self.x1, other.x0, other.x1)) * max(
            0.0, overlap(self.y0, self.y1, other.y0, other.y1)
        )

    @classmethod
    def around(cls, rects: Iterable["Rect"]) -> "Rect":
        """The smallest rectangle that holds all (at least one)."""
        several = list(rects)
        return cls(
            min(r.x0 for r in several),
            min(r.y0 for r in several),
            max(r.x1 for r in several),
            max(r.y1 for r in several),
        )


def overlap(a0: float, a1: float, b0: float, b1: float) -> float:
    """Length shared by two intervals; negative when they are apart (the gap)."""
    return min(a1, b1) - max(a0, b0)


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words of one line that belongs together in one cell.

    Attributes:
        line: index of its line on the page; lines that were read again have -1.
        score: of the recogniser, 0-1, or None.
    """

    text: str
    rect: Rect
    line: int
    words: tuple[Word, ...] = ()
    score: float | None = None
    reread: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """Size of the frame in pixels; maps boxes to and from page fractions."""

    width: float
    height: float

    @classmethod
    def of(cls, page: LayoutPage) -> "Frame":
        """The frame of a page."""
        if page.image is not None:
            return cls(float(page.image.rgb.shape[1]), float(page.image.rgb.shape[0]))
        scale = DPI_WITHOUT_PIXELS / 72
        return cls(max(1.0, page.size.width * scale), max(1.0, page.size.height * scale))

    def rect(self, box: Box) -> Rect:
        """A page box in pixels."""
        return Rect(box.x0 * self.width, box.y0 * self.height, box.x1 * self.width, box.y1 * self.height)

    def box(self, rect: Rect) -> Box:
        """A pixel rectangle as a page box, kept on the page."""
        return Box(rect.x0 / self.width, rect.y0 / self.height, rect.x1 / self.width, rect.y1 / self.height).clamped()

    def piece(self, line: TextLine, index: int) -> Piece:
        """A whole line as one piece."""
        return Piece(line.text, self.rect(line.box), index, line.words, line.confidence.value)


def text_height(pieces: Sequence[Piece], fallback: float = 20.0) -> float:
    """Median height of the pieces' boxes in px; `fallback` where there are none."""
    heights = [p.rect.height for p in pieces if p.rect.height > 0 and p.rect.width > 0.4 * p.rect.height]
    return float(median(heights)) if heights else fallback
