"""Glyphs of a text layer, whatever library read them, become lines and words."""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pageloom.model.blocks import Confidence, Word
from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import TextLine

SOFT_HYPHEN = "\u00ad"


class Style(NamedTuple):
    """What the glyphs of one text object share.

    Attributes:
        size: font size in points as shown.
        angle: direction of the baseline, degrees clockwise on the page as shown, 0-360.
        seen: False when it is drawn invisibly.
        source: the text object it came from; glyphs of one object follow one another.
    """

    size: float
    angle: float
    font: str = ""
    bold: bool = False
    italic: bool = False
    mono: bool = False
    seen: bool = True
    source: int = 0


class Glyph(NamedTuple):
    """One character with its ink and its advance, points of the page as shown, y down.

    Attributes:
        text: one character (a ligature is expanded: its parts share one box).
        ink: x0, y0, x1, y1 of what is drawn.
        room: x0, y0, x1, y1 of its advance width; gaps are measured between these.
        x, y: its origin on the baseline.
        spaced: a white-space character stands before it in the text layer.
        broken: the text layer ends a line before it.
    """

    text: str
    ink: tuple[float, float, float, float]
    room: tuple[float, float, float, float]
    x: float
    y: float
    style: Style
    spaced: bool = False
    broken: bool = False


class _Letter(NamedTuple):
    """A glyph in the frame of its line: text runs along +x, y down."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    start: float
    end: float
    base: float
    style: Style
    spaced: bool


@dataclass(slots=True)
class _Run:
    """Letters that follow one another in the text layer and on the page."""

    letters: list[_Letter] = field(default_factory=list)
    x0: float = math.inf
    x1: float = -math.inf
    rtl: int = 0
    ltr: int = 0

    def add(self, letter: _Letter) -> None:
        """Append one letter."""
        self.letters.append(letter)
        self.x0 = min(self.x0, letter.start)
        self.x1 = max(self.x1, letter.end)
        direction = unicodedata.bidirectional(letter.text[0])
        if direction == "L":
            self.ltr += 1
        elif direction in {"R", "AL"}:
            self.rtl += 1

    @property
    def size(self) -> float:
        """Largest font size in it."""
        return max(letter.style.size for letter in self.letters)

    @property
    def base(self) -> float:
        """Baseline of its largest letters."""
        size = self.size
        bases = sorted(letter.base for letter in self.letters if letter.style.size > size * 0.8)
        return bases[len(bases) // 2]


# Shares of the font size. A word space is 0.2-0.35 em, a justified line stretches it to about 1 em; columns and
# table cells stand further apart. Pieces from different places of the file join only when they touch.
WORD_GAP = 0.3
RUN_GAP = 1.25
JOIN_GAP = 0.45
BACK = 0.6
BASE_SHIFT = 0.45  # super- and subscripts stand up to 0.4 em off the baseline
ASCENT, DESCENT = 0.72, 0.21  # Helvetica's and Times' capitals and descenders, rounded outward


def lines_from(
    glyphs: Sequence[Glyph], size: PageSize, barriers: Sequence[tuple[float, ...]] = ()
) -> tuple[TextLine, ...]:
    """Lines of a page's glyphs.

    Args:
        glyphs: in the order of the text layer; right-to-left text in logical order.
        size: of the page as shown, points.
        barriers: straight lines x0, y0, x1, y1 in points that no line of text crosses at a right angle.

    Returns:
        Lines in the order of the text layer, boxes as fractions of the page.
    """
    groups: dict[tuple[float, bool], list[Glyph]] = {}
    for glyph, angle in zip(glyphs, _angles(glyphs), strict=True):
        groups.setdefault((angle, glyph.style.seen), []).append(glyph)
    lines: list[TextLine] = []
    for (angle, seen), several in groups.items():
        frame = _Frame(angle)
        walls = _Walls(frame, barriers)
        runs = _runs([frame.letter(glyph) for glyph in several], [g.broken for g in several], walls)
        lines.extend(_line(letters, frame, size, seen=seen) for letters in _joined(runs, walls))
    return tuple(lines)


# --- directions ---------------------------------------------------------------------------------------------------


class _Frame:
    """Turns the page so that text of one direction runs along +x."""

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

    def letter(self, glyph: Glyph) -> _Letter:
        """A glyph in this frame."""
        if self.angle == 0.0:
            ink, room = glyph.ink, glyph.room
            return _Letter(glyph.text, *ink, room[0], room[2], glyph.y, glyph.style, glyph.spaced)
        x0, y0, x1, y1 = self._turned(glyph.ink)
        start, _, end, _ = self._turned(glyph.room)
        x, base = self.to(glyph.x, glyph.y)
        if self._upright_vertical(glyph):
            base = y1
        return _Letter(glyph.text, x0, y0, x1, y1, start, end, base, glyph.style, glyph.spaced)

    def _upright_vertical(self, glyph: Glyph) -> bool:
        """Vertical writing: the letters stand upright, the line runs down."""
        return glyph.style.angle != self.angle and self.angle == 90.0

    def _turned(self, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """A box turned about the page's origin; for slanted lines the upright box shrunk back to the glyph's own."""
        x0, y0, x1, y1 = box
        cx, cy = self.to((x0 + x1) / 2, (y0 + y1) / 2)
        width, height = x1 - x0, y1 - y0
        cos, sin = abs(self.cos), abs(self.sin)
        spread = cos * cos - sin * sin
        if abs(spread) > 0.3:
            width, height = (width * cos - height * sin) / spread, (height * cos - width * sin) / spread
        else:  # near 45 degrees the upright box says nothing about the glyph's shape
            width = height = max(width, height) / math.sqrt(2)
        half_x, half_y = max(0.0, width) / 2, max(0.0, height) / 2
        return cx - half_x, cy - half_y, cx + half_x, cy + half_y


def _angles(glyphs: Sequence[Glyph]) -> list[float]:
    """Direction of the line each glyph belongs to: its own, or 90 where upright letters run down the page."""
    angles = [_rounded(glyph.style.angle) for glyph in glyphs]
    for at in range(1, len(glyphs)):
        one, other = glyphs[at - 1], glyphs[at]
        if angles[at] == 0.0 and _runs_down(one, other):
            angles[at] = 90.0
            if _rounded(one.style.angle) == 0.0:
                angles[at - 1] = 90.0
    return angles


def _rounded(angle: float) -> float:
    nearest = round(angle * 2) / 2 % 360
    quarter = round(angle / 90) * 90
    return float(quarter % 360) if abs(angle - quarter) < 0.5 else nearest


def _runs_down(one: Glyph, other: Glyph) -> bool:
    size = other.style.size
    if other.broken or abs(one.style.size - size) > 0.1 * size or not 0.7 * size < other.y - one.y < 1.7 * size:
        return False
    if abs(other.x - one.x) > 0.3 * size:
        return False
    return one.style.source == other.style.source or (is_wide(one.text) and is_wide(other.text))


def is_wide(text: str) -> bool:
    """Whether a character belongs to a script written without spaces in full-width boxes."""
    return unicodedata.east_asian_width(text[0]) in {"W", "F"}


class _Walls:
    """Rulings that cross lines of one direction."""

    def __init__(self, frame: _Frame, barriers: Sequence[tuple[float, ...]]) -> None:
        self.walls: list[tuple[float, float, float]] = []
        for x0, y0, x1, y1 in barriers:
            one, other = frame.to(x0, y0), frame.to(x1, y1)
            if abs(one[0] - other[0]) < 0.5:
                top, bottom = sorted((one[1], other[1]))
                self.walls.append((one[0], top, bottom))
        self.walls.sort()

    def between(self, left: float, right: float, y: float) -> bool:
        """Whether a wall stands between two places of one line."""
        if not self.walls or right <= left:
            return False
        return any(left < x < right and top < y < bottom for x, top, bottom in self.walls)


# --- runs and lines -----------------------------------------------------------------------------------------------


def _runs(letters: Sequence[_Letter], broken: Sequence[bool], walls: _Walls) -> list[_Run]:
    runs: list[_Run] = []
    last: _Letter | None = None
    for letter, ends in zip(letters, broken, strict=True):
        if last is None or not _follows(runs[-1], last, letter, walls, ends=ends):
            runs.append(_Run())
        runs[-1].add(letter)
        last = letter
    return runs


def _follows(run: _Run, last: _Letter, letter: _Letter, walls: _Walls, *, ends: bool) -> bool:
    size = max(last.style.size, letter.style.size)
    if abs(letter.base - last.base) > BASE_SHIFT * size:
        return False
    reach = JOIN_GAP if ends else RUN_GAP
    gap = letter.start - last.end
    if -BACK * size <= gap <= reach * size:
        return not walls.between(last.x1 - 0.1 * size, letter.x0 + 0.1 * size, letter.base - 0.3 * size)
    if run.rtl < run.ltr:
        return False
    return -BACK * size <= run.x0 - letter.end <= reach * size


def _joined(runs: list[_Run], walls: _Walls) -> list[list[_Letter]]:
    """Runs that touch on one baseline become one line, in reading direction."""
    order = sorted(range(len(runs)), key=lambda at: runs[at].x0)
    groups: list[list[int]] = []
    open_groups: list[tuple[float, float, float, list[int]]] = []
    bands: dict[int, list[int]] = {}
    place = {}
    for at in order:
        run = runs[at]
        size, base = run.size, run.base
        mate = _mate(bands, groups, runs, at, walls)
        if mate is None:
            groups.append([at])
            mate = len(groups) - 1
        else:
            groups[mate].append(at)
        place[at] = mate
        for band in range(int((base - size) // 8), int((base + size) // 8) + 1):
            if not bands.get(band) or bands[band][-1] != mate:
                bands.setdefault(band, []).append(mate)
    del open_groups
    first = sorted(range(len(groups)), key=lambda g: min(groups[g]))
    return [_in_direction([runs[at] for at in groups[g]], groups[g]) for g in first]


def _mate(bands: dict[int, list[int]], groups: list[list[int]], runs: list[_Run], at: int, walls: _Walls) -> int | None:
    """The group whose last run this one continues."""
    run = runs[at]
    size, base = run.size, run.base
    for mate in reversed(bands.get(int(base // 8), [])):
        end = max((runs[one] for one in groups[mate]), key=lambda one: one.x1)
        larger = max(size, end.size)
        if abs(end.base - base) > BASE_SHIFT * larger * 0.8 or not -larger * 0.5 < run.x0 - end.x1 < JOIN_GAP * larger:
            continue
        if min(size, end.size) < 0.4 * larger or walls.between(
            end.x1 - 0.1 * size, run.x0 + 0.1 * size, base - 0.3 * size
        ):
            continue
        return mate
    return None


def _in_direction(runs: list[_Run], order: list[int]) -> list[_Letter]:
    rtl = sum(run.rtl for run in runs) > sum(run.ltr for run in runs)
    if rtl:
        runs = sorted(runs, key=lambda run: -run.x1)
    letters: list[_Letter] = []
    for run in runs:
        first = run.letters[0]
        if letters and not first.spaced:
            last = letters[-1]
            gap = max(first.start - last.end, last.start - first.end)
            if gap > 0.15 * max(first.style.size, last.style.size):
                first = first._replace(spaced=True)
        letters.append(first)
        letters.extend(run.letters[1:])
    return letters


def _line(letters: list[_Letter], frame: _Frame, size: PageSize, *, seen: bool) -> TextLine:
    words = _words(letters)
    text = " ".join("".join(letter.text for letter in word) for word in words)
    largest = max(letter.style.size for letter in letters)
    main = [letter for letter in letters if letter.style.size > 0.8 * largest] or letters
    count = len(letters)
    share = {
        name: sum(getattr(letter.style, name) for letter in letters) * 2 > count for name in ("bold", "italic", "mono")
    }
    return TextLine(
        text=text,
        box=_box(letters, frame, size),
        confidence=Confidence(1.0, "text-layer"),
        words=tuple(Word("".join(letter.text for letter in word), _box(word, frame, size)) for word in words),
        size=sum(letter.style.size for letter in main) / len(main),
        angle=frame.angle,
        seen=seen,
        font=main[0].style.font,
        **share,
    )


def _words(letters: list[_Letter]) -> list[list[_Letter]]:
    words = [[letters[0]]]
    for last, letter in zip(letters, letters[1:], strict=False):
        size = min(last.style.size, letter.style.size)
        gap = max(letter.start - last.end, last.start - letter.end)
        wide = is_wide(last.text) and is_wide(letter.text)
        if (letter.spaced and not (wide and gap < 0.4 * size)) or gap > (0.6 if wide else WORD_GAP) * size:
            words.append([])
        words[-1].append(letter)
    return words


def _box(letters: Iterable[_Letter], frame: _Frame, size: PageSize) -> Box:
    """Ink of the letters, upward to capitals and downward to descenders whether or not they have them."""
    x0 = y0 = math.inf
    x1 = y1 = -math.inf
    for letter in letters:
        em = letter.style.size
        x0, x1 = min(x0, letter.x0), max(x1, letter.x1)
        y0, y1 = min(y0, letter.y0, letter.base - ASCENT * em), max(y1, letter.y1, letter.base + DESCENT * em)
    corners = [frame.back(x, y) for x in (x0, x1) for y in (y0, y1)]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return Box(min(xs) / size.width, min(ys) / size.height, max(xs) / size.width, max(ys) / size.height).clamped()
