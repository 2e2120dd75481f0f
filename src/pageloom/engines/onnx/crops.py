"""Found lines cut out of the image, upright."""

import cv2
import numpy as np

from pageloom.engines.onnx.detect import Quad
from pageloom.engines.onnx.session import Floats, Pixels

# PaddleOCR takes a line for vertical from this height / width on.
TALL = 1.5

# Room around a line, shares of its height, along and across it: first and last marks are cut off without it.
_ROOM_ALONG = 0.1
_ROOM_ACROSS = 0.05


def roomy(quad: Quad) -> Quad:
    """The quad with a little room around it."""
    c = quad.corners
    height = min(quad.height, quad.width)
    right, down = _unit(c[1] - c[0]) * height, _unit(c[3] - c[0]) * height
    along, across = (_ROOM_ACROSS, _ROOM_ALONG) if is_tall(quad) else (_ROOM_ALONG, _ROOM_ACROSS)
    right, down = right * along, down * across
    grown = c + np.stack([-right - down, right - down, right + down, down - right])
    return Quad(grown.astype(np.float32), quad.score)


def cut(rgb: Pixels, quad: Quad) -> Pixels:
    """The pixels of a quad, straightened: uint8 [height, width, 3] of the quad's own size."""
    width, height = max(1, round(quad.width)), max(1, round(quad.height))
    onto = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    x0, y0 = np.floor(quad.corners.min(axis=0)).astype(int) - 2
    x1, y1 = np.ceil(quad.corners.max(axis=0)).astype(int) + 3
    x0, y0 = max(0, int(x0)), max(0, int(y0))
    part = rgb[y0 : max(y0 + 1, int(y1)), x0 : max(x0 + 1, int(x1))]
    shifted = quad.corners - np.array([x0, y0], np.float32)
    warp = cv2.getPerspectiveTransform(shifted, onto)
    cropped = cv2.warpPerspective(part, warp, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cropped, np.uint8)


def _unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector


def is_tall(quad: Quad) -> bool:
    """Whether a quad holds vertical text (or a turned line)."""
    return quad.height >= TALL * quad.width


def facing(crop: Pixels, angle: int) -> Pixels:
    """The crop of a line that runs in a direction (0, 90 downwards, 270 upwards) as it is read, from left to right."""
    # The models know lines of upright Chinese characters laid on their left side.
    return crop if angle == 0 else np.ascontiguousarray(np.rot90(crop, 1 if angle == 90 else -1))
