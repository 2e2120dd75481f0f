"""Straight lines of a page: from the PDF's own rulings, or from the pixels by morphology."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from pageloom.layout.page import LayoutPage
from pageloom.layout.tables.frame import Frame, Piece, Rect, overlap, text_height

if TYPE_CHECKING:
    from pageloom.model.image import Pixels

# Contrast of a hairline against its surroundings, grey levels of 255: a 0.4 pt black line drawn at 150 dpi and blurred
# by a scanner keeps 30-60; paper grain reaches 15 but not along a whole line.
CONTRAST = 12
WIDEST_PX = 11  # thicker lines are bars
SMALL_PX = 1000  # longer side of images that are enlarged before their lines are searched


@dataclass(frozen=True, slots=True)
class Segment:
    """A straight line in px; `flat` ones run from left to right (x0 < x1), the others from top to bottom."""

    x0: float
    y0: float
    x1: float
    y1: float
    flat: bool

    @property
    def length(self) -> float:
        """Length along its main direction, px."""
        return self.x1 - self.x0 if self.flat else self.y1 - self.y0

    @property
    def rect(self) -> Rect:
        """Upright box around it."""
        return Rect(min(self.x0, self.x1), min(self.y0, self.y1), max(self.x0, self.x1), max(self.y0, self.y1))

    def across(self, along: float) -> float:
        """Place across it (y of a flat one, x of the others) at a position along it, px."""
        if self.flat:
            return self.y0 + (along - self.x0) / max(1e-6, self.x1 - self.x0) * (self.y1 - self.y0)
        return self.x0 + (along - self.y0) / max(1e-6, self.y1 - self.y0) * (self.x1 - self.x0)


def segments(page: LayoutPage, frame: Frame, pieces: Sequence[Piece]) -> list[Segment]:
    """All straight lines of a page that may be rules of a table: vector rulings where the PDF has any, else pixels."""
    if page.rulings:
        return _vector(page, frame)
    if page.image is None:
        return []
    return image_segments(page.image.rgb, pieces)


def _vector(page: LayoutPage, frame: Frame) -> list[Segment]:
    found = []
    for r in page.rulings:
        x0, x1 = sorted((r.x0 * frame.width, r.x1 * frame.width))
        y0, y1 = sorted((r.y0 * frame.height, r.y1 * frame.height))
        flat = x1 - x0 >= y1 - y0
        if max(x1 - x0, y1 - y0) >= 3:
            found.append(Segment(x0, y0, x1, y1, flat))
    return found


def image_segments(rgb: "Pixels", pieces: Sequence[Piece]) -> list[Segment]:
    """Straight dark lines of an image, up to about 3 degrees off the axes.

    Args:
        rgb: uint8 [H, W, 3].
        pieces: the text on it; strokes inside letters are left out by it.

    Returns:
        Segments at least about one text line long.
    """
    height = text_height(pieces)
    if max(rgb.shape[:2]) < SMALL_PX:
        return _enlarged(rgb, pieces, min(3.0, 1.2 * SMALL_PX / max(rgb.shape[:2])))
    # The darkest channel: coloured rules (red forms, orange tables) stand out as well as black ones.
    dark = cv2.min(cv2.min(rgb[:, :, 0], rgb[:, :, 1]), rgb[:, :, 2])
    flat = _runs(_valleys(dark, flat=True), max(20, round(1.5 * height)), flat=True)
    upright = _runs(_valleys(dark, flat=False), max(14, round(0.95 * height)), flat=False)
    thickness = max(6.0, 0.4 * height)
    found = _components(flat, thickness, flat=True) + _components(upright, thickness, flat=False)
    kept = [s for s in found if not _letter_stroke(s, pieces, height)]
    return kept + [s for s in found if s not in kept and any(_same_line(s, k, height) for k in kept)]


def _same_line(part: Segment, rule: Segment, height: float) -> bool:
    """Whether a segment among letters goes on where a long rule broke off: handwriting crosses its rules."""
    if part.flat != rule.flat or rule.length < 4 * height or part.length > rule.length:
        return False
    if part.flat:
        middle, gap = (part.x0 + part.x1) / 2, overlap(part.x0, part.x1, rule.x0, rule.x1)
        away = abs((part.y0 + part.y1) / 2 - rule.across(middle))
    else:
        middle, gap = (part.y0 + part.y1) / 2, overlap(part.y0, part.y1, rule.y0, rule.y1)
        away = abs((part.x0 + part.x1) / 2 - rule.across(middle))
    return away < 0.12 * height and -2 * height < gap <= 0


def _enlarged(rgb: "Pixels", pieces: Sequence[Piece], scale: float) -> list[Segment]:
    """Segments of an image with small print: at its own size a row is no higher than the window looks round."""
    size = (round(rgb.shape[1] * scale), round(rgb.shape[0] * scale))
    large = np.asarray(cv2.resize(rgb, size, interpolation=cv2.INTER_CUBIC))
    grown = [replace(p, rect=Rect(*(v * scale for v in (p.rect.x0, p.rect.y0, p.rect.x1, p.rect.y1)))) for p in pieces]
    return [
        Segment(s.x0 / scale, s.y0 / scale, s.x1 / scale, s.y1 / scale, s.flat) for s in image_segments(large, grown)
    ]


def _valleys(dark: "Pixels", *, flat: bool) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    """Where it is darker than on both sides across: lines, but neither edges of bars nor rims of light letters."""
    side = cv2.getStructuringElement(cv2.MORPH_RECT, (1, WIDEST_PX) if flat else (WIDEST_PX, 1))
    depth = cv2.morphologyEx(dark, cv2.MORPH_BLACKHAT, side)
    return np.asarray(cv2.threshold(depth, CONTRAST, 255, cv2.THRESH_BINARY)[1])


def _runs(ink: "np.ndarray[Any, Any]", length_px: int, *, flat: bool) -> "np.ndarray[Any, Any]":
    # Thickened across by 3 px so that a line of 2 degrees still has long runs; small breaks are closed along it.
    across = cv2.getStructuringElement(cv2.MORPH_RECT, (1, 3) if flat else (3, 1))
    along = cv2.getStructuringElement(cv2.MORPH_RECT, (length_px, 1) if flat else (1, length_px))
    gap = cv2.getStructuringElement(cv2.MORPH_RECT, (5, 1) if flat else (1, 5))
    thick = cv2.dilate(ink, across)
    opened = cv2.morphologyEx(thick, cv2.MORPH_OPEN, along)
    return np.asarray(cv2.morphologyEx(opened, cv2.MORPH_CLOSE, gap))


def _components(mask: "np.ndarray[Any, Any]", thickness: float, *, flat: bool) -> list[Segment]:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    found: list[Segment] = []
    for n in range(1, count):
        x, y, w, h, area = (int(v) for v in stats[n])
        length = w if flat else h
        if area / max(1, length) > thickness:
            continue  # a filled bar or a picture, not a line
        patch = labels[y : y + h, x : x + w] == n
        found.append(_fit(patch, x, y, flat=flat))
    return found


def _fit(patch: "np.ndarray[Any, Any]", x: int, y: int, *, flat: bool) -> Segment:
    """The straight line through a component: mean position over its first and last tenth."""
    along = patch if flat else patch.T
    length = along.shape[1]
    ends = max(1, length // 10)
    rows = np.arange(along.shape[0])[:, None]
    first, last = along[:, :ends], along[:, -ends:]
    a = float((rows * first).sum() / max(1, first.sum()))
    b = float((rows * last).sum() / max(1, last.sum()))
    if flat:
        return Segment(x, y + a, x + length, y + b, flat=True)
    return Segment(x + a, y, x + b, y + length, flat=False)


def _letter_stroke(segment: Segment, pieces: Sequence[Piece], height: float) -> bool:
    """Whether a segment is part of a letter, or of dense letters run together, and no rule."""
    if segment.flat:
        return any(_along_words(segment, piece.rect) for piece in pieces)
    box = segment.rect
    middle = (box.x0 + box.x1) / 2
    deep = 0.4 * height  # a rule may touch the first letter of the cell beside it
    inside = sum(
        max(0.0, overlap(box.y0, box.y1, p.rect.y0, p.rect.y1))
        for p in pieces
        if p.rect.x0 + deep < middle < p.rect.x1 - deep
    )
    return inside > (0.5 if box.height < 3.5 * height else 0.8) * box.height


def _along_words(segment: Segment, words: Rect) -> bool:
    """Whether a flat segment runs through words, or along their edge no further than they go (underlines)."""
    middle = (segment.y0 + segment.y1) / 2
    inside = words.y0 + 0.15 * words.height < middle < words.y1 - 0.15 * words.height
    edge = words.y0 - 0.05 * words.height < middle < words.y1 + 0.05 * words.height
    slack = 0.1 * words.height
    within = words.x0 - slack < segment.x0 and segment.x1 < words.x1 + slack
    return (edge and within) or (inside and overlap(segment.x0, segment.x1, words.x0, words.x1) > 0.8 * segment.length)
