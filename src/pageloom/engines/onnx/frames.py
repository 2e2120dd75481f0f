"""Turning and deskewing pixels, and where the result lies in the frame it came from."""

from typing import Literal

import cv2
import numpy as np

from pageloom.engines.onnx.session import Floats, Pixels
from pageloom.model.geometry import Placement

Turn = Literal[0, 90, 180, 270]

# Fractions of the turned image -> fractions of the image before, for each clockwise turn.
_BACK: dict[Turn, Placement] = {
    0: Placement(),
    90: Placement(0, 1, 0, -1, 0, 1),
    180: Placement(-1, 0, 1, 0, -1, 1),
    270: Placement(0, -1, 1, 1, 0, 0),
}


def turned(rgb: Pixels, degrees: Turn) -> Pixels:
    """The image turned clockwise."""
    return rgb if degrees == 0 else np.ascontiguousarray(np.rot90(rgb, -degrees // 90))


def before_turn(degrees: Turn) -> Placement:
    """Fractions of the image that `turned` gave, to fractions of the one it was given."""
    return _BACK[degrees]


def as_turn(degrees: int) -> Turn:
    """The nearest quarter turn."""
    turns: tuple[Turn, Turn, Turn, Turn] = (0, 90, 180, 270)
    return turns[round(degrees / 90) % 4]


def opposite(degrees: Turn) -> Turn:
    """The turn that puts the page the other way up."""
    flipped: dict[Turn, Turn] = {0: 180, 90: 270, 180: 0, 270: 90}
    return flipped[degrees]


class Deskew:
    """A turn by a small angle about the middle; the canvas grows so that nothing is cut off."""

    def __init__(self, width_px: int, height_px: int, skew: float) -> None:
        """Prepare.

        Args:
            width_px: width of the image.
            height_px: its height.
            skew: degrees by which its lines are tilted, clockwise positive.
        """
        turn = cv2.getRotationMatrix2D((width_px / 2, height_px / 2), skew, 1.0)
        cos, sin = abs(turn[0, 0]), abs(turn[0, 1])
        self.width_px = round(width_px * cos + height_px * sin)
        self.height_px = round(width_px * sin + height_px * cos)
        turn[:, 2] += [(self.width_px - width_px) / 2, (self.height_px - height_px) / 2]
        self._turn = turn.astype(np.float32)
        self._from = (width_px, height_px)

    def image(self, rgb: Pixels) -> Pixels:
        """The deskewed pixels; the new corners are filled with the paper's colour at the edge."""
        size = (self.width_px, self.height_px)
        # Photos have dark tables behind the paper: the edge goes on as it is there.
        out = cv2.warpAffine(rgb, self._turn, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(out, np.uint8)

    def points(self, xy: Floats) -> Floats:
        """Pixels [N, 2] of the image before, as pixels of the deskewed image."""
        return np.asarray(xy @ self._turn[:, :2].T + self._turn[:, 2], np.float32)

    def placement(self) -> Placement:
        """Fractions of the deskewed image to fractions of the image before."""
        back = cv2.invertAffineTransform(self._turn)
        (a, b, c), (d, e, f) = ([float(v) for v in row] for row in back)
        width, height = self._from
        w, h = self.width_px, self.height_px
        return Placement(a * w / width, b * h / width, c / width, d * w / height, e * h / height, f / height)
