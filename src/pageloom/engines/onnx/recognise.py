"""What a line says: PP-OCRv6 recognition, decoded by connectionist temporal classification (CTC)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from pageloom.engines.onnx.session import Floats, Pixels, Session

HEIGHT_PX = 48
_STEP_PX = 8  # one time step of the network
_LEAST_PX = 32
_MOST_PX = 4096


@dataclass(frozen=True, slots=True)
class Glyph:
    """A recognised character: its probability 0-1, its place along the line 0-1 (start and end of its time steps)."""

    text: str
    probability: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Said:
    """What one line says; no glyphs where nothing was recognised."""

    glyphs: tuple[Glyph, ...]

    @property
    def text(self) -> str:
        """The characters, spaces included."""
        return "".join(glyph.text for glyph in self.glyphs)

    @property
    def score(self) -> float:
        """Mean probability of the characters, 0-1."""
        inked = [glyph.probability for glyph in self.glyphs if glyph.text != " "]
        return sum(inked) / len(inked) if inked else 0.0


class Recogniser:
    """Reads cut-out lines."""

    def __init__(self, session: Session, dictionary: Path) -> None:
        self._session = session
        words = dictionary.read_text(encoding="utf-8").split("\n")
        if words[-1] == "":
            words.pop()
        # Class 0 is CTC's blank, the last one the space.
        self._classes = ["", *(word.rstrip("\r") for word in words), " "]
        self._known = frozenset(self._classes)

    def knows(self, char: str) -> bool:
        """Whether this model can write a character at all."""
        return char in self._known

    def read(self, crop: Pixels) -> Said:
        """Read one line.

        Args:
            crop: uint8 [H, W, 3], the line upright, filling the crop.
        """
        height, width = crop.shape[:2]
        fitted = round(HEIGHT_PX * width / max(1, height) / _STEP_PX) * _STEP_PX
        fitted = min(_MOST_PX, max(_LEAST_PX, fitted))
        resized = cv2.resize(crop, (fitted, HEIGHT_PX), interpolation=cv2.INTER_LINEAR)
        x = resized[:, :, ::-1].astype(np.float32)
        x *= 2.0 / 255.0
        x -= 1.0
        steps = self._session.run(np.ascontiguousarray(x.transpose(2, 0, 1)[None]))[0][0]
        return Said(tuple(_decoded(steps, self._classes)))


def _decoded(steps: Floats, classes: Sequence[str]) -> list[Glyph]:
    best = steps.argmax(axis=1)
    sure = steps[np.arange(len(best)), best]
    total = len(best)
    glyphs: list[Glyph] = []
    start = 0
    for end in range(1, total + 1):
        if end < total and best[end] == best[start]:
            continue
        if best[start]:
            glyphs.append(Glyph(classes[best[start]], float(sure[start:end].max()), start / total, end / total))
        start = end
    return glyphs
