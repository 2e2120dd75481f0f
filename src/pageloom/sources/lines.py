"""Glyphs become words and lines: runs along the text layer, joined where they touch on the page."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from pageloom.model.blocks import Confidence, Word
from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import TextLine
from pageloom.sources.glyphs import (
    SPACE_GUESSED,
    SPACE_NONE,
    SPACE_WRITTEN,
    Frame,
    Glyph,
    Walls,
    directions,
    is_rtl,
    is_wide,
)

# Shares of the font size. A word space is 0.2-0.35 em (TeX shrinks it to 0.17), a justified line stretches it to
# about 1 em; columns and table cells stand further apart. Runs from different places of the file join only when
# they touch.
WORD_GAP = 0.22
GUESSED_GAP = 0.1
WIDE_GAP = 0.5
RUN_GAP = 1.25
WRITTEN_RUN_GAP = 1.9  # a written space in a justified line
MONO_RUN_GAP = 2.6  # program text is aligned with several spaces
JOIN_GAP = 0.35
OVERLAP = 0.6
BASE_SHIFT = 0.45  # super- and subscripts stand up to 0.4 em off the baseline
ASCENT, DESCENT = 0.72, 0.21  # capitals and descenders of Times and Helvetica, rounded outward
BAND_PT = 8.0

_SURE = Confidence(1.0, "text-layer")
_Rect = tuple[float, float, float, float]


@dataclass(slots=True)
class _Run:
    """Glyphs that follow one another in the text layer and on the page, in the frame of their line."""

    glyphs: list[Glyph] = field(default_factory=list)
    left: float = math.inf
    right: float = -math.inf
    rtl: int = 0
    size: float = 0.0
    base: float = 0.0

    def add(self, glyph: Glyph, *, rtl: bool) -> None:
        """Append one glyph."""
        self.glyphs.append(glyph)
        self.left = min(self.left, glyph.left)
        self.right = max(self.right, glyph.right)
        self.rtl += rtl
        if glyph.style.size > self.size * 1.01:
            self.size, self.base = glyph.style.size, glyph.y

    @property
    def is_rtl(self) -> bool:
        """Whether most of it is written from right to left."""
        return self.rtl * 2 > len(self.glyphs)


def lines_from(
    glyphs: Sequence[Glyph], size: PageSize, rulings: Sequence[tuple[float, float, float, float]] = ()
) -> tuple[TextLine, ...]:
    """Lines of a page's glyphs.

    Args:
        glyphs: in the order of the text layer; right-to-left text in logical order.
        size: of the page as shown, points.
        rulings: straight lines x0, y0, x1, y1 in points; no line of text crosses one at a right angle.

    Returns:
        Lines in the order of the text layer, boxes as fractions of the page. Text that cannot be seen has lines of
        its own.
    """
    groups: dict[tuple[float, bool], list[Glyph]] = {}
    for glyph, angle in zip(glyphs, directions(glyphs), strict=True):
        groups.setdefault((angle, glyph.style.seen), []).append(glyph)
    lines: list[TextLine] = []
    for (angle, _), several in groups.items():
        frame = Frame(angle)
        walls = Walls(frame, rulings)
        runs = _runs([frame.turned(glyph) for glyph in several], walls)
        lines.extend(_line(line, frame, size) for line in _joined(runs, walls))
    return tuple(lines)


def _runs(glyphs: Sequence[Glyph], walls: Walls) -> list[_Run]:
    runs: list[_Run] = []
    last: Glyph | None = None
    for glyph in glyphs:
        rtl = is_rtl(glyph.text)
        if last is None or not _follows(runs[-1], last, glyph, walls):
            runs.append(_Run())
        runs[-1].add(glyph, rtl=rtl)
        last = glyph
    return runs


def _follows(run: _Run, last: Glyph, glyph: Glyph, walls: Walls) -> bool:
    if glyph.x0 == last.x0 and glyph.x1 == last.x1 and glyph.y0 == last.y0:
        return True  # parts of one ligature
    size = max(last.style.size, glyph.style.size)
    if abs(glyph.y - last.y) > BASE_SHIFT * size:
        return False
    reach = _reach(last, glyph)
    if -OVERLAP * size <= glyph.left - last.right <= reach * size:
        return not walls.between(last, glyph)
    if not run.is_rtl:
        return False
    return -OVERLAP * size <= run.left - glyph.right <= reach * size and not walls.between(glyph, last)


def _reach(last: Glyph, glyph: Glyph) -> float:
    """Widest gap, in em, between two neighbours of one line."""
    if glyph.broken:
        return JOIN_GAP
    if last.style.mono and glyph.style.mono:
        return MONO_RUN_GAP
    return WRITTEN_RUN_GAP if glyph.space == SPACE_WRITTEN else RUN_GAP


# --- runs to lines ------------------------------------------------------------------------------------------------


def _joined(runs: list[_Run], walls: Walls) -> list[list[Glyph]]:
    """Runs that touch on one baseline become one line, in reading direction."""
    groups: list[list[int]] = []
    ends: list[int] = []
    bands: dict[int, list[int]] = {}
    for at in sorted(range(len(runs)), key=lambda at: runs[at].left):
        run = runs[at]
        mate = _mate(run, bands.get(int(run.base // BAND_PT), ()), [runs[end] for end in ends], walls)
        if mate is None:
            mate = len(groups)
            groups.append([])
            ends.append(at)
        groups[mate].append(at)
        if run.right >= runs[ends[mate]].right:
            ends[mate] = at
        for band in range(int((run.base - run.size) // BAND_PT), int((run.base + run.size) // BAND_PT) + 1):
            held = bands.setdefault(band, [])
            if mate not in held[-1:]:
                held.append(mate)
    groups.sort(key=min)
    return [_in_direction([runs[at] for at in group]) for group in groups]


def _mate(run: _Run, near: Sequence[int], ends: list[_Run], walls: Walls) -> int | None:
    """The group whose last run this one continues."""
    for mate in reversed(near):
        end = ends[mate]
        larger, smaller = max(run.size, end.size), min(run.size, end.size)
        if abs(end.base - run.base) > BASE_SHIFT * 0.8 * larger or smaller < 0.4 * larger:
            continue
        if not -0.5 * larger < run.left - end.right < JOIN_GAP * larger:
            continue
        if not walls.between(max(end.glyphs, key=_right), min(run.glyphs, key=_left)):
            return mate
    return None


def _right(glyph: Glyph) -> float:
    return glyph.right


def _left(glyph: Glyph) -> float:
    return glyph.left


def _in_direction(runs: list[_Run]) -> list[Glyph]:
    if len(runs) == 1:
        return runs[0].glyphs
    if sum(run.rtl for run in runs) * 2 > sum(len(run.glyphs) for run in runs):
        runs = sorted(runs, key=lambda run: -run.right)
    # Between runs the text layer's own white space says nothing: it belongs to what stood before in the file.
    return [
        glyph if at or glyph.space == SPACE_WRITTEN else glyph._replace(space=SPACE_GUESSED)
        for run in runs
        for at, glyph in enumerate(run.glyphs)
    ]


# --- lines to words -----------------------------------------------------------------------------------------------


def _line(glyphs: list[Glyph], frame: Frame, size: PageSize) -> TextLine:
    words = _words(glyphs)
    rects = [_rect(word) for word in words]
    texts = ["".join([glyph.text for glyph in word]) for word in words]
    styles = Counter(glyph.style for glyph in glyphs)
    sizes: Counter[float] = Counter()
    for style, number in styles.items():
        sizes[round(style.size, 1)] += number
    main = max(styles, key=lambda style: styles[style])
    count = len(glyphs)
    return TextLine(
        text=" ".join(texts),
        box=_box(_around(rects), frame, size),
        confidence=_SURE,
        words=tuple(Word(text, _box(rect, frame, size)) for text, rect in zip(texts, rects, strict=True)),
        size=max(sizes, key=lambda value: (sizes[value], value)),
        angle=frame.angle,
        bold=sum(number for style, number in styles.items() if style.bold) * 2 > count,
        italic=sum(number for style, number in styles.items() if style.italic) * 2 > count,
        mono=sum(number for style, number in styles.items() if style.mono) * 2 > count,
        seen=main.seen,
        font=main.font,
    )


def _words(glyphs: list[Glyph]) -> list[list[Glyph]]:
    words = [[glyphs[0]]]
    for last, glyph in itertools.pairwise(glyphs):
        if _parted(last, glyph):
            words.append([])
        words[-1].append(glyph)
    return words


def _parted(last: Glyph, glyph: Glyph) -> bool:
    """Whether a word ends between two neighbours."""
    size = max(last.style.size, glyph.style.size)
    gap = max(glyph.left - last.right, last.left - glyph.right)
    if is_wide(last.text) and is_wide(glyph.text):
        return gap > WIDE_GAP * size
    if glyph.space == SPACE_NONE:
        return gap > WORD_GAP * size
    # A written space counts unless the glyphs overlap; a guessed one only where there is room for it.
    return gap > (GUESSED_GAP * size if glyph.space == SPACE_GUESSED else -0.1 * size)


def _rect(glyphs: list[Glyph]) -> _Rect:
    """Ink of a word, upward to capitals and downward to descenders whether or not it has them; frame of its line."""
    x0 = y0 = math.inf
    x1 = y1 = -math.inf
    for glyph in glyphs:
        em = glyph.style.size
        x0, x1 = min(x0, glyph.x0), max(x1, glyph.x1)
        y0 = min(y0, glyph.y0, glyph.y - ASCENT * em)
        y1 = max(y1, glyph.y1, glyph.y + DESCENT * em)
    return x0, y0, x1, y1


def _around(rects: list[_Rect]) -> _Rect:
    return (
        min(rect[0] for rect in rects),
        min(rect[1] for rect in rects),
        max(rect[2] for rect in rects),
        max(rect[3] for rect in rects),
    )


def _box(rect: _Rect, frame: Frame, size: PageSize) -> Box:
    x0, y0, x1, y1 = rect
    if frame.angle:
        corners = [frame.back(x, y) for x in (x0, x1) for y in (y0, y1)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        x0, y0, x1, y1 = min(xs), min(ys), max(xs), max(ys)
    return Box(x0 / size.width, y0 / size.height, x1 / size.width, y1 / size.height).clamped()
