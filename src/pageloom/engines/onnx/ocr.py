"""Lines of text of an image: found, read by the tiny model, and read again by the small one where it was unsure."""

from functools import cached_property
from pathlib import Path

import numpy as np

from pageloom import weights
from pageloom.engines.onnx.crops import cut, is_tall
from pageloom.engines.onnx.detect import Detector, Quad
from pageloom.engines.onnx.recognise import Recogniser, Said
from pageloom.engines.onnx.session import Pixels, Session
from pageloom.engines.onnx.words import words_of
from pageloom.model.blocks import Confidence
from pageloom.model.geometry import Box
from pageloom.model.image import TextLine

DETECT_PX = 1600  # measured: 960 loses 13 % of the digits of a dense table, 1280 a third of a percent
# Read again by the small model below this mean probability (measured on simulated scans: 0.98 -> 0.66 % errors).
UNSURE = 0.95
PAGE_UNSURE = 0.90
SIZE_OF_BOX = 0.75  # type size / height of the found line


class Ocr:
    """Reads all lines of an image. Models are loaded when first needed."""

    def __init__(self, models: Path | None = None, threads: int = 1) -> None:
        """Prepare.

        Args:
            models: folder of the model files; None = the user's data folder.
            threads: threads one model may use.

        Raises:
            ModelsMissing: the model files are not on this machine.
        """
        self._models = models
        self._threads = threads
        for name in ("ocr_tiny_det", "ocr_tiny_rec", "ocr_tiny_dict", "ocr_small_rec", "ocr_small_dict"):
            weights.path(name, models)

    @cached_property
    def _detector(self) -> Detector:
        return Detector(self._session("ocr_tiny_det"))

    @cached_property
    def _tiny(self) -> Recogniser:
        return Recogniser(self._session("ocr_tiny_rec"), weights.path("ocr_tiny_dict", self._models))

    @cached_property
    def _small(self) -> Recogniser:
        return Recogniser(self._session("ocr_small_rec"), weights.path("ocr_small_dict", self._models))

    def lines(self, rgb: Pixels, dpi: float) -> list[TextLine]:
        """Lines, top to bottom.

        Args:
            rgb: uint8 [H, W, 3].
            dpi: pixels an inch of page; tells the size of letters in points.

        Returns:
            Lines with boxes in fractions 0-1 of the image.
        """
        quads = self._detector.quads(rgb, DETECT_PX)
        read = [(quad, self._read(rgb, quad)) for quad in quads]
        return [_line(quad, said, rgb.shape[:2], dpi) for quad, said in read if said.text.strip()]

    def _read(self, rgb: Pixels, quad: Quad) -> Said:
        crop = cut(rgb, quad)
        if is_tall(quad):
            crop = np.ascontiguousarray(np.rot90(crop))
        said = self._tiny.read(crop)
        if said.score >= UNSURE:
            return said
        again = self._small.read(crop)
        return again if again.score >= said.score else said

    def _session(self, name: str) -> Session:
        return Session(weights.path(name, self._models), self._threads)


def _line(quad: Quad, said: Said, shape: tuple[int, int], dpi: float) -> TextLine:
    height, width = shape
    scale = np.array([width, height], np.float32)
    corners = quad.corners / scale
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    box = Box(float(x0), float(y0), float(x1), float(y1)).clamped()
    tall = is_tall(quad)
    return TextLine(
        text=said.text.strip(),
        box=box,
        confidence=Confidence(round(said.score, 4), "recogniser"),
        words=words_of(said, corners, tall=tall),
        size=(quad.width if tall else quad.height) * 72.0 / dpi * SIZE_OF_BOX,
        angle=90.0 if tall else 0.0,
    )
