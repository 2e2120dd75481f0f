"""Found lines cut out of the image, upright."""

import cv2
import numpy as np

from pageloom.engines.onnx.detect import Quad
from pageloom.engines.onnx.session import Pixels

# PaddleOCR takes a line for vertical from this height / width on.
TALL = 1.5


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


def is_tall(quad: Quad) -> bool:
    """Whether a quad holds vertical text (or a turned line)."""
    return quad.height >= TALL * quad.width
