"""Whether a drawn page can be read at all: blank, too little contrast, too blurred, too small; told before it is read.

A page is refused only when it is far from anything that was ever read: the numbers beside each limit are those of
pages that a person and the recogniser read well. All measures are cheap (some 60 ms for an A4 page at 150 dpi).
"""

from typing import TYPE_CHECKING, Literal

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pageloom.model.image import Pixels

    Grey = NDArray[np.uint8]

State = Literal["readable", "blank", "low_contrast", "blurred", "too_small"]

WINDOW_PX = 31  # ground and ink are told apart inside this window: some two lines of print at 150 dpi
TOP_PIXELS = 64  # contrast is the mean of the strongest pixels, so that a page with three words still has it
LEAST_CONTRAST = 22.0  # of 255; the palest readable pages have 150, print on thermal paper 80
DUST_CONTRAST = 60.0  # of 255; a few marks weaker than this are dust: the paper is then judged without them
LEAST_MARK = 7.0  # of 255; weaker marks are compression noise
NOISE_MARKS = 3.2  # times the median local contrast: pure noise has 2, paper grain up to 3
NOISY = 1.0  # of 255, standard deviation of the pixel noise above which contrast is measured on smoothed pixels
LEAST_SHAPES = 8  # shapes as high as letters that make a faint page a page of text
BLUR_PX = 2.2  # sigma of an edge; readable pages have 0.7-1.4
BLUR_SHARE, TALLEST_PX = 0.12, 30.0  # ... and of the height of the shapes, so that large letters may be softer
LETTER_PX = 3  # lower shapes are dots and specks
TINY_PX = 4.0  # the tallest shapes (95th percentile) of a table whose letters of 5 px could still be read have 5
READABLE_PX, FEW_SHAPES = 6, 0.015  # a ruler of a hundred ticks with one word above it can be read
SMALL_PX = 700  # an A4 page of 60 dpi: letters of 10 points have 5 px there
TINY_SHAPES = 60  # fewer shapes are specks and dots, not a page of text


def judge(rgb: "Pixels", *, has_content: bool) -> tuple[State, dict[str, float]]:  # noqa: ARG001 - see below
    """Whether a page can be read, and the numbers that say so.

    Args:
        rgb: uint8 [H, W, 3], the page as drawn.
        has_content: whether the source names text or images on the page. It decides nothing: every page of a scanned
            PDF has its image, empty paper too.

    Returns:
        State and measured values: `contrast` (0-255), `noise` (standard deviation, 0-255), `edge_px` (sigma of the
        sharpest edges), `shapes` (letter-like shapes), `letter_px` (their median height).
    """
    grey: Grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    noise = _noise(grey)
    calm = cv2.GaussianBlur(grey, (0, 0), 1.0) if noise > NOISY else grey
    ink = _ink(calm)
    contrast = _top(ink)
    measured = {"contrast": round(contrast, 1), "noise": round(noise, 2)}
    if contrast < max(LEAST_MARK, NOISE_MARKS * float(np.median(ink))):
        return "blank", measured
    heights = _heights(ink, contrast)
    shapes = int((heights > LETTER_PX).sum())
    height = float(np.median(heights)) if len(heights) else 0.0
    measured |= {"shapes": float(shapes), "letter_px": height}
    if contrast < DUST_CONTRAST and _strong(ink) < LEAST_SHAPES:
        faint = shapes >= LEAST_SHAPES and shapes * 2 >= len(heights)
        return ("low_contrast" if faint else "blank"), measured
    edge = _edge(calm, ink)
    measured["edge_px"] = round(edge, 2)
    if edge > BLUR_PX and edge > BLUR_SHARE * min(height, TALLEST_PX):
        return "blurred", measured
    return ("too_small" if _tiny(heights, max(grey.shape)) else "readable"), measured


def _tiny(heights: "NDArray[np.int32]", longer_px: int) -> bool:
    """Whether there are many shapes, and (next to) none as tall as a letter that can be read.

    Args:
        heights: of all shapes, pixels.
        longer_px: longer side of the page; what is taller than a letter on a small picture is a rule or a blot.
    """
    if len(heights) < TINY_SHAPES or np.percentile(heights, 95) > TINY_PX:
        return False
    return longer_px < SMALL_PX or float((heights >= READABLE_PX).mean()) < FEW_SHAPES


def _noise(grey: "Grey") -> float:
    """Standard deviation of the pixel noise (Immerkaer 1996, with a median that leaves out print and edges)."""
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    response = cv2.filter2D(grey, cv2.CV_32F, kernel)
    return float(np.median(np.abs(response))) / (0.6745 * 6.0)


def _ink(grey: "Grey") -> "Grey":
    """How much darker each pixel is than the lightest around it."""
    side = min(WINDOW_PX, max(3, min(grey.shape) // 2 * 2 - 1))
    ground = cv2.blur(cv2.morphologyEx(grey, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8)), (side, side))
    return np.asarray(cv2.subtract(ground, grey), np.uint8)


def _top(values: "Grey") -> float:
    """Mean of the strongest pixels."""
    flat = values.ravel()
    count = min(TOP_PIXELS, flat.size)
    return float(np.partition(flat, flat.size - count)[-count:].mean())


def _heights(ink: "Grey", contrast: float) -> "NDArray[np.int32]":
    """Heights in pixels of connected shapes of ink, without specks and without what is as large as the page."""
    level = max(LEAST_MARK, 0.4 * min(contrast, float(np.percentile(ink, 99.5)) or contrast))
    _, _, stats, _ = cv2.connectedComponentsWithStats((ink > level).astype(np.uint8), connectivity=8)
    stats = stats[1:]
    height, width, area = stats[:, cv2.CC_STAT_HEIGHT], stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_AREA]
    kept = (height >= 2) & (area >= 3) & (height < 0.4 * ink.shape[0] + 20) & (width < 0.6 * ink.shape[1] + 20)
    return np.asarray(height[kept], np.int32)


def _strong(ink: "Grey") -> int:
    """Shapes as high as letters that are dark enough to be read."""
    _, _, stats, _ = cv2.connectedComponentsWithStats((ink >= LEAST_CONTRAST).astype(np.uint8), connectivity=8)
    return int((stats[1:, cv2.CC_STAT_HEIGHT] > LETTER_PX).sum())


def _edge(grey: "Grey", ink: "Grey") -> float:
    """Sigma in pixels of the sharpest edges: a step of height C blurred by sigma has the slope C / (2.5 sigma)."""
    across, down = (cv2.Sobel(grey, cv2.CV_32F, dx, dy, scale=1 / 8) for dx, dy in ((1, 0), (0, 1)))
    slope = cv2.magnitude(across, down)
    share = 100.0 - 100.0 * max(TOP_PIXELS / slope.size, 0.001)
    steepest = float(np.percentile(slope, share))
    return float(np.percentile(ink, share)) / (2.5066 * steepest) if steepest > 0 else 0.0
