"""A line that was found and read."""

from collections.abc import Sequence
from dataclasses import dataclass

from pageloom.engines.onnx.detect import Quad
from pageloom.engines.onnx.recognise import Said


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A found line and what it says.

    Attributes:
        angle: direction in which it runs, degrees clockwise: 0, 90 (downwards) or 270 (upwards).
    """

    quad: Quad
    said: Said
    angle: int = 0


def mean_score(lines: Sequence[ReadLine]) -> float:
    """Mean probability of all characters, 0-1; 1 where nothing was read."""
    count = sum(len(line.said.glyphs) for line in lines)
    return sum(line.said.score * len(line.said.glyphs) for line in lines) / count if count else 1.0
