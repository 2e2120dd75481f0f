"""Where lines of text stand: PP-OCRv6 detection (differentiable binarisation), own post-processing."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from pageloom.engines.onnx.session import Floats, Pixels, Session

# From the model's inference.yml.
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_STD = np.array([0.229, 0.224, 0.225], np.float32)
_INK = 0.2
_SURE = 0.4
_GROW = 1.4
_MOST = 3000

_STEP_PX = 32  # the network halves its input five times
_LEAST_PX = 3.0  # smaller quads are specks


@dataclass(frozen=True, slots=True)
class Quad:
    """A found line.

    Attributes:
        corners: float32 [4, 2], pixels of the image, from the top left clockwise as the text is seen upright.
        score: mean text probability inside, 0-1.
    """

    corners: Floats
    score: float

    @property
    def width(self) -> float:
        """Length of the longer of top and bottom edge, pixels."""
        c = self.corners
        return float(max(np.linalg.norm(c[1] - c[0]), np.linalg.norm(c[2] - c[3])))

    @property
    def height(self) -> float:
        """Length of the longer of left and right edge, pixels."""
        c = self.corners
        return float(max(np.linalg.norm(c[3] - c[0]), np.linalg.norm(c[2] - c[1])))


class Detector:
    """Finds lines of text."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def quads(self, rgb: Pixels, longest_px: int) -> list[Quad]:
        """Lines of an image, top to bottom.

        Args:
            rgb: uint8 [H, W, 3].
            longest_px: the image is scaled down until its longer side has at most this many pixels; below 1600
                the digits of dense tables are lost.
        """
        height, width = rgb.shape[:2]
        scale = min(1.0, longest_px / max(height, width))
        fitted = cv2.resize(rgb, (_stepped(width * scale), _stepped(height * scale)), interpolation=cv2.INTER_AREA)
        heat = self._session.run(_tensor(fitted))[0][0, 0]
        stretch = np.array([width / fitted.shape[1], height / fitted.shape[0]], np.float32)
        found = [Quad(_ordered(quad.corners * stretch), quad.score) for quad in _found(heat)]
        return sorted(found, key=lambda quad: (float(quad.corners[:, 1].min()), float(quad.corners[:, 0].min())))


def _stepped(pixels: float) -> int:
    return max(_STEP_PX, round(pixels / _STEP_PX) * _STEP_PX)


def _tensor(rgb: Pixels) -> Floats:
    # The model was trained on BGR with the means in this order.
    x = rgb[:, :, ::-1].astype(np.float32)
    x *= 1.0 / (255.0 * _STD)
    x -= _MEAN / _STD
    return np.ascontiguousarray(x.transpose(2, 0, 1)[None])


def _found(heat: Floats) -> list[Quad]:
    mask = (heat > _INK).astype(np.uint8)
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    quads = (_quad(heat, contour) for contour in contours[:_MOST])
    return [quad for quad in quads if quad is not None]


def _quad(heat: Floats, contour: NDArray[np.int32]) -> Quad | None:
    center, (width, height), angle = cv2.minAreaRect(contour)
    if min(width, height) < _LEAST_PX:
        return None
    corners = np.asarray(cv2.boxPoints((center, (width, height), angle)), np.float32)
    score = _mean_inside(heat, corners)
    if score < _SURE:
        return None
    # The network is trained on shrunk lines: grow them back by area * ratio / perimeter on every side.
    grow = width * height * _GROW / (2 * (width + height))
    grown = (center, (width + 2 * grow, height + 2 * grow), angle)
    return Quad(np.asarray(cv2.boxPoints(grown), np.float32), score)


def _mean_inside(heat: Floats, corners: Floats) -> float:
    rows, columns = heat.shape
    x0, y0 = np.floor(corners.min(axis=0)).astype(int)
    x1, y1 = np.ceil(corners.max(axis=0)).astype(int)
    x0, x1 = max(0, x0), min(columns - 1, x1)
    y0, y1 = max(0, y0), min(rows - 1, y1)
    inside = np.zeros((y1 - y0 + 1, x1 - x0 + 1), np.uint8)
    cv2.fillPoly(inside, [np.round(corners - [x0, y0]).astype(np.int32)], 1)
    return float(cv2.mean(heat[y0 : y1 + 1, x0 : x1 + 1], inside)[0])


def _ordered(corners: Floats) -> Floats:
    """Corners from the top left clockwise, for a line tilted by less than 45 degrees."""
    by_x = corners[np.argsort(corners[:, 0], kind="stable")]
    left = by_x[:2][np.argsort(by_x[:2, 1])]
    right = by_x[2:][np.argsort(by_x[2:, 1])]
    return np.array([left[0], right[0], right[1], left[1]], np.float32)
