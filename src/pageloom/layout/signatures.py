"""Signatures: ink beside or above the words that ask for one."""

import re
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from pageloom.layout.page import LayoutPage
from pageloom.model.blocks import Confidence, Signature
from pageloom.model.geometry import Box, Region
from pageloom.model.image import TextLine

LABEL = re.compile(
    r"签\s*字|签\s*名|签\s*章|簽\s*名|簽\s*字|署\s*名"
    r"|\b(?:signature|signed|sign here|authori[sz]ed signatory|unterschrift|firma|handtekening|assinatura)\b"
    r"|^\s*by\s*[:：]",
    re.IGNORECASE,
)
LONGEST_LABEL = 40  # letters; a longer line speaks about signatures
PRINTED = 0.9  # a line read with this score is print, not a signature
WIDTH, ABOVE, BELOW = 9.0, 1.8, 0.9  # of the zone right of a label, in heights of its line
LEAST_INK = 0.012  # share of the zone
INK_STEP = 50  # grey levels below the paper


@dataclass(frozen=True, slots=True)
class FoundSignature:
    """Ink in a signature zone; lines in it are what a reader made of the ink, not running text."""

    box: Box
    line_indices: frozenset[int]
    block: Signature


def find_signatures(page: LayoutPage) -> list[FoundSignature]:
    """Signatures of a page, top first; a zone without ink has none. None without pixels."""
    if page.image is None:
        return []
    grey = cv2.cvtColor(page.image.rgb, cv2.COLOR_RGB2GRAY)
    found: list[FoundSignature] = []
    for line in page.lines:
        if not LABEL.search(line.text) or len(line.text) > LONGEST_LABEL:
            continue
        box = _ink(page, grey, line)
        if box is not None and not any(box.iou(other.box) > 0.3 for other in found):
            found.append(_signature(page, box, len(found) + 1))
    return sorted(found, key=lambda s: (s.box.y0, s.box.x0))


def _ink(page: LayoutPage, grey: "np.ndarray[Any, Any]", label: TextLine) -> Box | None:
    """The box of the handwriting right of a label (or, for a label under a rule, above it), or None."""
    height, width = grey.shape
    x0, y0, x1, y1 = label.box.in_pixels(width, height)
    tall = max(1, y1 - y0)
    right = (x1, round(y0 - ABOVE * tall), round(x1 + WIDTH * tall), round(y1 + BELOW * tall))
    over = (round(x0 - tall), round(y0 - 3.2 * tall), round(x0 + WIDTH * tall), y0 - 2)
    for zone in (right, over):
        box = _strokes(page, grey, zone, tall)
        if box is not None:
            return box
    return None


def _strokes(page: LayoutPage, grey: "np.ndarray[Any, Any]", zone: tuple[int, int, int, int], tall: int) -> Box | None:
    height, width = grey.shape
    x0, y0, x1, y1 = max(0, zone[0]), max(0, zone[1]), min(width, zone[2]), min(height, zone[3])
    if x1 - x0 < 2 * tall or y1 - y0 < tall:
        return None
    part = grey[y0:y1, x0:x1]
    ink = (part < np.median(part) - INK_STEP).astype(np.uint8)
    _without_print(page, ink, (x0, y0), (width, height))
    _without_rules(ink, tall)
    several = _large(ink, tall)
    if several is None or several.mean() < LEAST_INK:
        return None
    ys, xs = np.nonzero(several)
    box = Box(
        (x0 + xs.min()) / width, (y0 + ys.min()) / height, (x0 + xs.max() + 1) / width, (y0 + ys.max() + 1) / height
    )
    wide, high = (xs.max() - xs.min() + 1), (ys.max() - ys.min() + 1)
    return box.clamped() if wide > 1.5 * tall and high > 0.8 * tall else None


def _without_print(page: LayoutPage, ink: "np.ndarray[Any, Any]", at: tuple[int, int], size: tuple[int, int]) -> None:
    """Take printed lines out of the ink: what was read surely is no signature."""
    for line in page.lines:
        sure = line.confidence.value is None or line.confidence.value >= PRINTED
        if sure and len(line.text.strip()) > 1:
            a0, b0, a1, b1 = line.box.in_pixels(*size)
            ink[max(0, b0 - at[1] - 1) : max(0, b1 - at[1] + 1), max(0, a0 - at[0] - 1) : max(0, a1 - at[0] + 1)] = 0


def _without_rules(ink: "np.ndarray[Any, Any]", tall: int) -> None:
    """Take the rule to sign on out of the ink."""
    rules = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((1, 3 * tall), np.uint8))
    ink[cv2.dilate(rules, np.ones((3, 1), np.uint8)) > 0] = 0


def _large(ink: "np.ndarray[Any, Any]", tall: int) -> "np.ndarray[Any, Any] | None":
    """Only strokes of some size: specks and dots are left out."""
    joined = cv2.dilate(ink, np.ones((3, 3), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    keep = [n for n in range(1, count) if max(int(stats[n][2]), int(stats[n][3])) > 0.6 * tall]
    if not keep:
        return None
    return np.asarray(np.isin(labels, keep) & (ink > 0))


def _signature(page: LayoutPage, box: Box, number: int) -> FoundSignature:
    inside = [
        n
        for n, line in enumerate(page.lines)
        if line.box.covered_by(box) > 0.6 and (line.confidence.value or 0.0) < PRINTED
    ]
    block = Signature(id=f"signature{number}", regions=(Region(page.number, box),), confidence=Confidence(None, "rule"))
    return FoundSignature(box, frozenset(inside), block)
