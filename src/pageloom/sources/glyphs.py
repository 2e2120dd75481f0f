"""The glyphs of a text layer, whatever library read them, and the frame of a line of them."""

import math
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

SPACE_NONE, SPACE_GUESSED, SPACE_WRITTEN = 0, 1, 2


class Style(NamedTuple):
    """What the glyphs of one text object share.

    Attributes:
        size: font size in points as shown.
        angle: direction of the baseline, degrees clockwise on the page as shown, 0-360.
        seen: False when it is drawn invisibly.
        source: the text object it came from; glyphs of one object follow one another.
        pale: white, so that it is seen only on a ground of its own.
    """

    size: float
    angle: float = 0.0
    font: str = ""
    bold: bool = False
    italic: bool = False
    mono: bool = False
    seen: bool = True
    source: int = 0
    pale: bool = False


class Glyph(NamedTuple):
    """One character with its ink, its advance and its origin, points of the page as shown, y down.

    Attributes:
        text: one character; more where a glyph stands for several and their places are not known.
        x0, y0, x1, y1: box of what is drawn. Parts of an expanded ligature share one box.
        left, right: where its advance begins and ends, along its line; gaps between words are measured here.
        x, y: origin, on the baseline.
        space: white space before it: SPACE_NONE, SPACE_GUESSED by the library, SPACE_WRITTEN in the text layer.
        broken: the text layer ends a line before it.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    left: float
    right: float
    x: float
    y: float
    style: Style
    space: int = SPACE_NONE
    broken: bool = False


def is_wide(text: str) -> bool:
    """Whether a character belongs to a script written without spaces in full-width boxes."""
    return text > "\u10ff" and unicodedata.east_asian_width(text[0]) in {"W", "F"}


def is_rtl(text: str) -> bool:
    """Whether a character is of a script written from right to left."""
    return text > "\u058f" and unicodedata.bidirectional(text[0]) in {"R", "AL"}


class Frame:
    """The page turned so that the lines of one direction run along +x, y down.

    Attributes:
        angle: degrees clockwise from the page's +x to the direction of the lines.
    """

    def __init__(self, angle: float) -> None:
        self.angle = angle
        radians = math.radians(angle)
        self.cos, self.sin = math.cos(radians), math.sin(radians)
        if angle % 90 == 0:
            self.cos, self.sin = float(round(self.cos)), float(round(self.sin))

    def to(self, x: float, y: float) -> tuple[float, float]:
        """Page to frame."""
        return x * self.cos + y * self.sin, y * self.cos - x * self.sin

    def back(self, x: float, y: float) -> tuple[float, float]:
        """Frame to page."""
        return x * self.cos - y * self.sin, y * self.cos + x * self.sin

    def turned(self, glyph: Glyph) -> Glyph:
        """A glyph in this frame."""
        if self.angle == 0.0:
            return glyph
        x0, y0, x1, y1 = self._box(glyph)
        x, y = self.to(glyph.x, glyph.y)
        if glyph.style.angle != self.angle and self.angle == 90.0 and abs(glyph.style.angle) < 1.0:
            # Vertical writing: upright letters in a line that runs down; each takes its em.
            size, middle = glyph.style.size, (x0 + x1) / 2
            return glyph._replace(
                x0=x0,
                y0=y0,
                x1=x1,
                y1=y1,
                left=middle - size / 2,
                right=middle + size / 2,
                x=x0,
                y=(y0 + y1) / 2 + size / 3,
            )
        width = glyph.right - glyph.left
        return glyph._replace(x0=x0, y0=y0, x1=x1, y1=y1, left=x, right=x + width, x=x, y=y)

    def _box(self, glyph: Glyph) -> tuple[float, float, float, float]:
        """Ink in this frame; for slanted lines the upright box shrunk back to the glyph's own."""
        cx, cy = self.to((glyph.x0 + glyph.x1) / 2, (glyph.y0 + glyph.y1) / 2)
        width, height = glyph.x1 - glyph.x0, glyph.y1 - glyph.y0
        half_x = along(self.angle, width, height, glyph.style.size) / 2
        half_y = along(self.angle + 90.0, width, height, glyph.style.size) / 2
        return cx - half_x, cy - half_y, cx + half_x, cy + half_y


def along(angle: float, width: float, height: float, size: float) -> float:
    """Length, along a direction, of the rectangle whose upright box has this width and height; never negative.

    Args:
        angle: degrees, of the rectangle's own first side.
        width: of the upright box around the turned rectangle.
        height: of the same.
        size: font size; near 45 degrees the upright box says nothing, and half an em is taken.
    """
    radians = math.radians(angle)
    cos, sin = abs(math.cos(radians)), abs(math.sin(radians))
    spread = cos * cos - sin * sin
    if abs(spread) < 0.3:
        return min(size / 2, max(width, height))
    return max(0.0, (width * cos - height * sin) / spread)


def directions(glyphs: Sequence[Glyph]) -> list[float]:
    """Direction of the line each glyph belongs to: its own, or 90 where upright letters run down the page."""
    known: dict[float, float] = {}
    for glyph in glyphs:
        if glyph.style.angle not in known:
            known[glyph.style.angle] = rounded(glyph.style.angle)
    angles = [known[glyph.style.angle] for glyph in glyphs]
    for at in range(1, len(glyphs)):
        if angles[at] == 0.0 and _runs_down(glyphs[at - 1], glyphs[at]):
            angles[at] = 90.0
            if known[glyphs[at - 1].style.angle] == 0.0:
                angles[at - 1] = 90.0
    return angles


def rounded(angle: float) -> float:
    """Half degrees; what is within half a degree of upright is upright."""
    quarter = round(angle / 90) * 90
    return float(quarter % 360) if abs(angle - quarter) < 0.5 else round(angle * 2) / 2 % 360


def _runs_down(one: Glyph, other: Glyph) -> bool:
    size = other.style.size
    if other.broken or not 0.7 * size < other.y - one.y < 1.7 * size or abs(other.x - one.x) > 0.3 * size:
        return False
    if abs(one.style.size - size) > 0.1 * size:
        return False
    return one.style.source == other.style.source or (is_wide(one.text) and is_wide(other.text))


class Walls:
    """Rulings that cross the lines of one direction."""

    def __init__(self, frame: Frame, rulings: Sequence[tuple[float, float, float, float]]) -> None:
        self._walls: list[tuple[float, float, float]] = []
        for x0, y0, x1, y1 in rulings:
            one, other = frame.to(x0, y0), frame.to(x1, y1)
            if abs(one[0] - other[0]) < 0.5:
                top, bottom = sorted((one[1], other[1]))
                self._walls.append((one[0], top, bottom))

    def between(self, one: Glyph, other: Glyph) -> bool:
        """Whether a wall stands between two neighbours of one line."""
        if not self._walls:
            return False
        size = min(one.style.size, other.style.size)
        left, right, y = one.x1 - 0.1 * size, other.x0 + 0.1 * size, other.y - 0.3 * size
        return any(left < x < right and top < y < bottom for x, top, bottom in self._walls)
