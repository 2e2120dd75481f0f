"""Spaces and punctuation width of a read line, by the white gaps between its letters.

The recogniser forgets spaces after marks ("Keywords:Document") and puts some where there are none ("[CLS ]"); it
writes ASCII marks where full-width ones are printed. Both are settled by what the pixels show, where that is clear.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from pageloom.engines.onnx.recognise import Glyph, Said
from pageloom.engines.onnx.session import Pixels
from pageloom.engines.onnx.words import is_spaceless

_WIDE = str.maketrans(",:;!?()", "，：；！？（）")
_OPENING = "（《〈「『【〔“‘"
_MARKS = frozenset("，。、；：！？…—·" + _OPENING + "）》〉」』】〕”’")

# Shares of the line's usual word gap (Latin) or of the character pitch (Chinese); chosen on drawn pages in five fonts.
_SURELY_APART = 0.75
_SURELY_TOGETHER = 0.35
_MOSTLY_CLOSE = 0.75  # of the gaps between letters
_EM_APART = 0.8
_EM_OF_MARK = 0.5
_EM_SPACE = 0.36  # a space between Latin words in Chinese text
_EM_WIDE_MARK = 0.45


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two neighbouring characters, and what lies between them.

    Attributes:
        gap: width of the widest white run between their middles, pixels of the crop.
        space: the space that the recogniser put there, if any.
    """

    left: Glyph
    right: Glyph
    gap: float
    space: Glyph | None

    @property
    def latin(self) -> bool:
        return not is_spaceless(self.left.text) and not is_spaceless(self.right.text)

    @property
    def spaceless(self) -> bool:
        return is_spaceless(self.left.text) and is_spaceless(self.right.text)


def respaced(said: Said, crop: Pixels) -> Said:
    """The same line with spaces where the pixels show gaps, and full-width marks where those are printed.

    Args:
        said: what was read in the crop.
        crop: uint8 [H, W, 3], as it was read.
    """
    letters = [glyph for glyph in said.glyphs if glyph.text != " "]
    if len(letters) < 3:
        return said
    runs, width = _white_runs(crop), crop.shape[1]
    pitch = _pitch(letters, width)
    pairs = _pairs(said.glyphs, runs, width)
    glyphs = _widened(said.glyphs, pairs, pitch)
    letters = [glyph for glyph in glyphs if glyph.text != " "]
    pairs = [
        replace(pair, left=left, right=right) for pair, (left, right) in zip(pairs, pairwise(letters), strict=True)
    ]
    return Said(tuple(_spaced(letters, pairs, _spacing(pairs, pitch))))


def _spaced(letters: Sequence[Glyph], pairs: Sequence[_Pair], spaced: Sequence[bool]) -> list[Glyph]:
    glyphs = [letters[0]]
    for pair, apart, right in zip(pairs, spaced, letters[1:], strict=True):
        if apart:
            glyphs.append(pair.space or Glyph(" ", 1.0, pair.left.end, pair.right.start))
        glyphs.append(right)
    return glyphs


def _white_runs(crop: Pixels) -> NDArray[np.int64]:
    """Runs of columns without ink: int [N, 2], start and end (exclusive) in pixels."""
    grey = cv2.cvtColor(crop, cv2.COLOR_RGB2GRAY)
    _, dark = cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    ink = dark if dark.mean() <= 0.5 else 1 - dark
    ink[ink.mean(axis=1) > 0.8] = 0  # a rule through the line is no ink of letters
    white = np.concatenate([[0], (ink.sum(axis=0) == 0).astype(np.int8), [0]])
    edges = np.flatnonzero(np.diff(white))
    return edges.reshape(-1, 2)


def _pairs(glyphs: Sequence[Glyph], runs: NDArray[np.int64], width: int) -> list[_Pair]:
    letters = [glyph for glyph in glyphs if glyph.text != " "]
    spaces: list[Glyph | None] = []
    space: Glyph | None = None
    for glyph in glyphs:
        if glyph.text == " ":
            space = glyph
        else:
            spaces.append(space)
            space = None
    gaps = _gaps(letters, runs, width)
    return [
        _Pair(left, right, float(gap), between)
        for (left, right), gap, between in zip(pairwise(letters), gaps, spaces[1:], strict=True)
    ]


def _gaps(letters: Sequence[Glyph], runs: NDArray[np.int64], width: int) -> NDArray[np.float64]:
    """Widest white run between the middles of neighbours, pixels: float [letters - 1]."""
    middles = np.array([(glyph.start + glyph.end) / 2 * width for glyph in letters])
    if not len(runs):
        return np.zeros(len(letters) - 1)
    ends = np.minimum(runs[None, :, 1], middles[1:, None])
    starts = np.maximum(runs[None, :, 0], middles[:-1, None])
    return np.asarray(np.maximum(0.0, (ends - starts).max(axis=1)))


def _pitch(letters: Sequence[Glyph], width: int) -> float:
    """Usual distance of Chinese characters in pixels; 0 where there are too few."""
    steps = [
        (b.start + b.end - a.start - a.end) / 2 * width
        for a, b in pairwise(letters)
        if is_spaceless(a.text) and is_spaceless(b.text)
    ]
    return float(np.median(steps)) if len(steps) >= 3 else 0.0


def _spacing(pairs: Sequence[_Pair], pitch: float) -> list[bool]:
    said = [pair.gap for pair in pairs if pair.latin and pair.space]
    unsaid = [pair.gap for pair in pairs if pair.latin and not pair.space]
    usual = float(np.median(said)) if len(said) >= 2 else _EM_SPACE * pitch
    close = [gap for gap in unsaid if gap < _SURELY_APART * usual]
    if len(close) < _MOSTLY_CLOSE * len(unsaid):
        usual = 0.0  # letters set widely apart tell nothing
    inner = float(np.quantile(close, 0.9)) if close else 0.0
    return [_apart(pair, usual, inner, pitch) for pair in pairs]


def _apart(pair: _Pair, usual: float, inner: float, pitch: float) -> bool:
    said = pair.space is not None
    if pair.spaceless:
        marks = (pair.left.text in _MARKS) + (pair.right.text in _MARKS)
        return pair.gap >= (_EM_APART + _EM_OF_MARK * marks) * pitch if pitch else said
    if not pair.latin or usual <= inner:
        return said
    if pair.left.text in "([{" or pair.right.text in ")]},.":
        return False
    if said:
        return pair.gap > _SURELY_TOGETHER * usual or pair.gap > inner + 1
    # Digits stand as far apart as they like in tables; only letters and marks are parted.
    digits = pair.left.text.isdigit() and pair.right.text.isdigit()
    return not digits and pair.gap >= _SURELY_APART * usual and pair.gap >= 1.8 * inner + 1


def _widened(glyphs: Sequence[Glyph], pairs: Sequence[_Pair], pitch: float) -> list[Glyph]:
    """ASCII marks beside Chinese characters become full-width where they take a character's room."""
    letters = len(pairs) + 1
    chinese = sum(is_spaceless(glyph.text) for glyph in glyphs)
    out: list[Glyph] = []
    place = 0  # among the letters
    for glyph in glyphs:
        wide = glyph.text.translate(_WIDE)
        if wide != glyph.text and chinese:
            before = pairs[place - 1] if place else None
            after = pairs[place] if place < len(pairs) else None
            if _beside(before, after) and _takes_room(before, after, pitch, mostly=2 * chinese >= letters):
                glyph = replace(glyph, text=wide)  # noqa: PLW2901
        out.append(glyph)
        place += glyph.text != " "
    return out


def _beside(before: _Pair | None, after: _Pair | None) -> bool:
    return (before is not None and is_spaceless(before.left.text)) or (
        after is not None and is_spaceless(after.right.text)
    )


def _takes_room(before: _Pair | None, after: _Pair | None, pitch: float, *, mostly: bool) -> bool:
    if before is None or after is None or not pitch:
        return mostly
    return before.gap + after.gap >= _EM_WIDE_MARK * pitch
