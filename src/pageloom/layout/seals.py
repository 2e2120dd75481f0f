"""Seals and stamps: rings, ovals and squares of red or blue ink on colour pages."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from pageloom.layout.page import LayoutPage
from pageloom.model.blocks import Confidence, Line, Seal
from pageloom.model.geometry import Box, Region

if TYPE_CHECKING:
    from pageloom.model.image import Pixels

Mask = "np.ndarray[Any, np.dtype[np.uint8]]"

SEEN_PX = 1000  # longer side at which seals are looked for; a 40 mm seal on A4 has about 135 px there
SMALLEST, LARGEST = 0.035, 0.34  # side of a seal as a share of the page's longer side: 10 mm to 100 mm on A4
LONGEST_SHAPE = 2.4  # of an oval or a rectangular stamp, longer to shorter side
# Ink against paper after white balance, steps of 255: red ink under a scanner 60-150, skin and wood 20-50.
RED_STEP, BLUE_STEP = 42, 38
OUTLINE = 0.62  # share of the outline that must be inked: seals are often printed unevenly
PAPER = 150  # brightness of the ground between the strokes: paper or text on paper, not a photograph


@dataclass(frozen=True, slots=True)
class FoundSeal:
    """A seal on a page.

    Attributes:
        line_indices: lines written in the seal's own ink; they are not running text.
    """

    box: Box
    line_indices: frozenset[int]
    block: Seal


def find_seals(page: LayoutPage) -> list[FoundSeal]:
    """Seals of a page, top first; none without pixels or on a page without colour."""
    if page.image is None or not page.image.colour:
        return []
    height, width = page.image.rgb.shape[:2]
    scale = min(1.0, SEEN_PX / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = _balanced(np.asarray(cv2.resize(page.image.rgb, size, interpolation=cv2.INTER_AREA)))
    found: list[FoundSeal] = []
    for ink in (_red(small), _blue(small)):
        if int(ink.sum()) < SMALLEST * SEEN_PX:
            continue  # not even the outline of the smallest seal
        for x, y, w, h in _shapes(ink, small):
            box = Box(x / size[0], y / size[1], (x + w) / size[0], (y + h) / size[1]).clamped()
            if not any(box.iou(other.box) > 0.2 for other in found) and not _letter(box, page):
                found.append(_seal(page, box, _own(ink, small), len(found) + 1))
    return sorted(found, key=lambda s: (s.box.y0, s.box.x0))


def _letter(box: Box, page: LayoutPage) -> bool:
    """Whether a shape is a sign of a coloured line of text, e.g. of a title."""
    return any(
        line.box.height > 0.6 * box.height and line.box.width > 1.5 * box.width and box.covered_by(line.box) > 0.5
        for line in page.lines
    )


def _own(ink: "np.ndarray[Any, Any]", rgb: "Pixels") -> "np.ndarray[Any, Any]":
    """Where a line's letters are: 1 in the seal's ink, 2 in black or grey, 0 on paper."""
    dark = (rgb.max(axis=2) < 190).astype(np.uint8)
    return np.asarray(np.where(ink > 0, 1, 2 * dark), np.uint8)


def _balanced(rgb: "Pixels") -> "Pixels":
    """Paper made white: yellow lamp light would tint every letter."""
    sample = rgb[::4, ::4]
    dark = sample.min(axis=2)
    bright = sample[dark >= np.percentile(dark, 60)]
    paper = np.maximum(np.median(bright, axis=0), 120.0)
    table = np.clip(np.arange(256)[:, None] * (245.0 / paper)[None], 0, 255).astype(np.uint8)
    return np.asarray(cv2.LUT(rgb, table[:, None, :]))


def _red(rgb: "Pixels") -> "np.ndarray[Any, Any]":
    r, g, b = (np.ascontiguousarray(rgb[:, :, n]) for n in range(3))
    orange = cv2.subtract(g, b) > 0.4 * cv2.subtract(r, b)
    return np.asarray((cv2.subtract(r, cv2.max(g, b)) > RED_STEP) & (r > 90) & ~orange, np.uint8)


def _blue(rgb: "Pixels") -> "np.ndarray[Any, Any]":
    r, g, b = (np.ascontiguousarray(rgb[:, :, n]) for n in range(3))
    return np.asarray((cv2.subtract(b, r) > BLUE_STEP) & (cv2.subtract(b, g) > 12) & (b > 70), np.uint8)


def _shapes(ink: "np.ndarray[Any, Any]", rgb: "Pixels") -> list[tuple[int, int, int, int]]:
    """Boxes (x, y, w, h) of connected ink that has the outline of a seal."""
    longer = max(ink.shape)
    reach = max(3, round(longer * 0.006)) | 1
    closed = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach)))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(closed, connectivity=8)
    found = []
    for n in range(1, count):
        x, y, w, h = (int(v) for v in stats[n][:4])
        if not SMALLEST * longer <= max(w, h) <= LARGEST * longer or max(w, h) > LONGEST_SHAPE * min(w, h):
            continue
        own = (labels[y : y + h, x : x + w] == n) & (closed[y : y + h, x : x + w] > 0)
        if _seal_like(own, ink[y : y + h, x : x + w] > 0, rgb[y : y + h, x : x + w]):
            found.append((x, y, w, h))
    return found


def _seal_like(own: "np.ndarray[Any, Any]", ink: "np.ndarray[Any, Any]", rgb: "Pixels") -> bool:
    """Judge one connected shape: outline, signs inside, thin strokes, paper between them."""
    ground = rgb[~ink]
    if ground.size == 0 or np.median(ground.max(axis=1)) < PAPER:
        return False
    share = float(ink.mean())
    if not 0.06 <= share <= 0.62:
        return False
    round_share, round_inside = _ellipse(own, ink)
    square_share, square_inside = _frame(own, ink)
    outlined = (round_share >= OUTLINE and round_inside >= 0.05) or (square_share >= 0.8 and square_inside >= 0.1)
    return outlined and _strokes(ink)


def _ellipse(own: "np.ndarray[Any, Any]", ink: "np.ndarray[Any, Any]") -> tuple[float, float]:
    """Share of directions in which an elliptic ring is inked, and of its inside that is."""
    h, w = own.shape
    ys, xs = np.mgrid[0:h, 0:w]
    radius = np.hypot((xs - (w - 1) / 2) / (w / 2), (ys - (h - 1) / 2) / (h / 2))
    turn = (np.arctan2(ys - h / 2, xs - w / 2) * (72 / (2 * np.pi))).astype(int) % 72
    ring = own & (radius > 0.84) & (radius <= 1.04)
    drawn = len(np.unique(turn[ring])) / 72
    corners = own & (radius > 1.12)
    if corners.sum() > 0.25 * max(1, ring.sum()):
        return 0.0, 0.0  # ink in the corners: a frame or a drawing
    return drawn, float(ink[radius < 0.8].mean())


def _frame(own: "np.ndarray[Any, Any]", ink: "np.ndarray[Any, Any]") -> tuple[float, float]:
    """Share of a rectangular frame that is inked, and of its inside that is."""
    h, w = own.shape
    t = max(2, round(0.08 * min(h, w)))
    sides = [own[:t].any(axis=0), own[-t:].any(axis=0), own[:, :t].any(axis=1), own[:, -t:].any(axis=1)]
    inside = ink[2 * t : h - 2 * t, 2 * t : w - 2 * t]
    return min(float(side.mean()) for side in sides), float(inside.mean()) if inside.size else 0.0


def _strokes(ink: "np.ndarray[Any, Any]") -> bool:
    """Whether the ink is drawn with a pen's width, not filled in: few pixels survive when strokes are taken off."""
    width = max(3, round(0.17 * min(ink.shape))) | 1
    core = cv2.erode(ink.astype(np.uint8), np.ones((width, width), np.uint8))
    return float(core.sum()) < 0.1 * max(1.0, float(ink.sum()))


def _seal(page: LayoutPage, box: Box, own: "np.ndarray[Any, Any]", number: int) -> FoundSeal:
    inside = [n for n, line in enumerate(page.lines) if line.box.covered_by(box) > 0.5 and _in_ink(line.box, own)]
    lines = tuple(
        Line(f"seal{number}-l{k}", page.lines[n].text, page.number, page.lines[n].box, page.lines[n].confidence)
        for k, n in enumerate(inside, 1)
    )
    block = Seal(
        id=f"seal{number}",
        regions=(Region(page.number, box),),
        text="\n".join(line.text for line in lines),
        lines=lines,
        confidence=Confidence(None, "rule"),
    )
    return FoundSeal(box, frozenset(inside), block)


def _in_ink(box: Box, own: "np.ndarray[Any, Any]") -> bool:
    """Whether a line is written in the seal's ink: black letters under a seal stay running text."""
    x0, y0, x1, y1 = box.in_pixels(own.shape[1], own.shape[0])
    part = own[y0:y1, x0:x1]
    coloured, black = int((part == 1).sum()), int((part == 2).sum())
    return coloured > 0.06 * part.size and coloured > 2 * black
