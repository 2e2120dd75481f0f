"""Crops of figures, seals, formulas and signatures: kept as files beside the document."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import cv2
import numpy as np

from pageloom.model.geometry import Box, Placement
from pageloom.model.image import PageImage

if TYPE_CHECKING:
    from pageloom.model.image import Pixels

LONGEST_PX = 1600
LARGEST_BYTES = 1_500_000
JPEG_QUALITIES = (88, 75, 60)

CropKind = Literal["figure", "chart", "seal", "signature", "formula", "table"]


@dataclass(frozen=True, slots=True)
class Crop:
    """An encoded picture; `suffix` is ".png" or ".jpg"."""

    suffix: str
    contents: bytes
    width_px: int
    height_px: int


def asset_name(page: int, kind: CropKind, number: int, suffix: str) -> str:
    """The name of a crop: made of numbers and its kind only, never of words from the document."""
    return f"page-{page}-{kind}-{number}{suffix}"


def crop(image: PageImage, box: Box, margin: float = 0.004, longest_px: int = LONGEST_PX) -> Crop | None:
    """A part of a page as a picture file.

    Few flat colours (drawings, text) become PNG, photographs JPEG; large ones are made smaller.

    Args:
        image: a drawn page.
        box: fractions of the image (not of the page; see `on_image`).
        margin: kept around it, as a fraction of the image's longer side.
        longest_px: neither side of the crop is longer.

    Returns:
        The crop, or None when the box holds no pixel.
    """
    height, width = image.rgb.shape[:2]
    slack = margin * max(width, height)
    wide = Box(
        box.x0 - slack / width, box.y0 - slack / height, box.x1 + slack / width, box.y1 + slack / height
    ).clamped()
    x0, y0, x1, y1 = wide.in_pixels(width, height)
    if x1 - x0 < 2 or y1 - y0 < 2 or box.area <= 0:
        return None
    part = image.rgb[y0:y1, x0:x1]
    scale = longest_px / max(part.shape[:2])
    if scale < 1:
        size = (max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale)))
        part = np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA))
    return _encoded(part)


def on_image(image: PageImage, box: Box) -> Box:
    """A box of the page as shown in fractions of the image: `image.placement` undone."""
    return inverse(image.placement).box(box)


def inverse(placement: Placement) -> Placement:
    """The map back from page fractions to image fractions.

    Raises:
        ValueError: the placement lays the image on a line or a point.
    """
    p = placement
    det = p.a * p.e - p.b * p.d
    if abs(det) < 1e-12:
        raise ValueError(f"placement has no area: {placement}")
    a, b, d, e = p.e / det, -p.b / det, -p.d / det, p.a / det
    return Placement(a, b, -(a * p.c + b * p.f), d, e, -(d * p.c + e * p.f))


def photographic(rgb: "Pixels") -> bool:
    """Whether a picture has the many in-between tones of a photograph."""
    small = cv2.resize(rgb, (96, 96), interpolation=cv2.INTER_NEAREST)
    tones = (small >> 4).astype(np.int32)
    keys = tones[..., 0] * 256 + tones[..., 1] * 16 + tones[..., 2]
    counts = np.sort(np.bincount(keys.ravel(), minlength=4096))[::-1]
    # Drawings, also scanned ones, have nine tenths of their pixels in a few of the 4096 coarse colours.
    return int(np.searchsorted(np.cumsum(counts), 0.9 * keys.size)) + 1 > 40


def _encoded(rgb: "Pixels") -> Crop:
    bgr = np.ascontiguousarray(rgb[:, :, ::-1])
    height, width = bgr.shape[:2]
    if not photographic(rgb):
        contents = _bytes(".png", bgr, [cv2.IMWRITE_PNG_COMPRESSION, 6])
        if len(contents) <= LARGEST_BYTES:
            return Crop(".png", contents, width, height)
    contents = b""
    for quality in JPEG_QUALITIES:
        contents = _bytes(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
        if len(contents) <= LARGEST_BYTES:
            break
    return Crop(".jpg", contents, width, height)


def _bytes(suffix: str, bgr: "np.ndarray[Any, Any]", options: list[int]) -> bytes:
    done, buffer = cv2.imencode(suffix, bgr, options)
    if not done:
        raise ValueError(f"a crop of {bgr.shape} px cannot be written as {suffix}")
    return bytes(buffer.tobytes())
