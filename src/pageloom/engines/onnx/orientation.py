"""Which way up a page is, and how far its lines are tilted."""

from collections.abc import Callable, Sequence

import cv2
import numpy as np

from pageloom.engines.onnx.crops import cut
from pageloom.engines.onnx.detect import Quad
from pageloom.engines.onnx.frames import Turn
from pageloom.engines.onnx.recognise import Said
from pageloom.engines.onnx.session import Floats, Pixels, Session
from pageloom.engines.onnx.words import is_spaceless

# From the model's training: ImageNet means, the shorter side at 256, the middle 224 seen.
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_STD = np.array([0.229, 0.224, 0.225], np.float32)
_SHORT_PX = 256
_SEEN_PX = 224

# A strip's middle square says nothing about the strip (PaddleOCR issue 16626): only its lines do.
WIDEST = 2.5
SURE = 0.9

_LONG = 3.0  # length / height from which a line's direction is believed
_SAMPLES = 6
_ENOUGH = 15.0
_MARGIN = 0.1  # by how much the lines must read better the other way
_STEEPEST = 20.0  # degrees; more is a drawing or an advert, not a tilted page

Read = Callable[[Pixels], Said]


class Orientation:
    """The page orientation model (PP-LCNet, four classes, 6 ms a page)."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def guess(self, rgb: Pixels) -> tuple[Turn, float]:
        """The clockwise turn that puts a page upright, and the model's probability for it, 0-1."""
        height, width = rgb.shape[:2]
        scale = _SHORT_PX / min(height, width)
        size = (max(_SEEN_PX, round(width * scale)), max(_SEEN_PX, round(height * scale)))
        small = cv2.resize(rgb, size, interpolation=cv2.INTER_AREA)
        top, left = (small.shape[0] - _SEEN_PX) // 2, (small.shape[1] - _SEEN_PX) // 2
        seen = small[top : top + _SEEN_PX, left : left + _SEEN_PX].astype(np.float32) / 255.0
        x = ((seen - _MEAN) / _STD).transpose(2, 0, 1)[None]
        chances = self._session.run(np.ascontiguousarray(x, np.float32))[0][0]
        best = int(chances.argmax())
        turn: tuple[Turn, Turn, Turn, Turn] = (0, 270, 180, 90)  # the class tells how far the image was turned
        return turn[best], float(chances[best])


def lies_sideways(quads: Sequence[Quad]) -> bool:
    """Whether most of the long lines run up or down."""
    along = sum(quad.width for quad in quads if quad.width >= _LONG * quad.height)
    across = sum(quad.height for quad in quads if quad.height >= _LONG * quad.width)
    return across > along


def turn_of_sideways(rgb: Pixels, quads: Sequence[Quad], read: Read) -> Turn:
    """The clockwise turn that makes lines running up or down readable.

    Args:
        rgb: uint8 [H, W, 3].
        quads: its lines, most of them tall.
        read: the recogniser.

    Returns:
        0 for vertical Chinese or Japanese, which stands as it should.
    """
    crops = [cut(rgb, quad) for quad in _longest([quad for quad in quads if quad.height >= _LONG * quad.width])]
    left = [read(np.ascontiguousarray(np.rot90(crop))) for crop in crops]
    right = [read(np.ascontiguousarray(np.rot90(crop, -1))) for crop in crops]
    left_score, right_score = _mean(left), _mean(right)
    if right_score > left_score:
        return 90
    text = "".join(said.text for said in left)
    return 0 if sum(map(is_spaceless, text)) * 2 > len(text) else 270


def reads_better_upside_down(rgb: Pixels, quads: Sequence[Quad], read: Read) -> bool:
    """Whether the longest lines are read with a clearly better score when turned by 180 degrees.

    Args:
        rgb: uint8 [H, W, 3], lines running from left to right or upside down.
        quads: its lines.
        read: the recogniser.
    """
    crops = [cut(rgb, quad) for quad in _longest([quad for quad in quads if quad.width >= _LONG * quad.height])]
    as_is = _mean([read(crop) for crop in crops])
    return _mean([read(np.ascontiguousarray(crop[::-1, ::-1])) for crop in crops]) > as_is + _MARGIN


def _longest(quads: Sequence[Quad]) -> list[Quad]:
    """Lines that tell most: surely text, and long, but not so long that reading them costs much."""

    def worth(quad: Quad) -> float:
        across, along = sorted((quad.width, quad.height))
        return quad.score * min(along / max(1.0, across), _ENOUGH)

    return sorted(quads, key=worth, reverse=True)[:_SAMPLES]


def _mean(read: Sequence[Said]) -> float:
    return sum(said.score for said in read) / len(read) if read else 0.0


def skew_of(quads: Sequence[Quad]) -> float:
    """Tilt of the lines in degrees, clockwise positive: the median of the long lines, weighted by length."""
    wide = [quad for quad in quads if quad.width >= _LONG * quad.height]
    if not wide:
        return 0.0
    angles = np.array([_angle(quad.corners) for quad in wide])
    lengths = np.array([quad.width for quad in wide])
    order = np.argsort(angles)
    middle = np.searchsorted(np.cumsum(lengths[order]), lengths.sum() / 2)
    skew = float(angles[order][middle])
    return skew if abs(skew) <= _STEEPEST else 0.0


def _angle(corners: Floats) -> float:
    along = (corners[1] - corners[0]) + (corners[2] - corners[3])
    return float(np.degrees(np.arctan2(along[1], along[0])))
