"""Lines of text of an image: found, read by the tiny model, and read again by the small one where it was unsure."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from pageloom import weights
from pageloom.engines.onnx.crops import cut, facing, is_tall, roomy
from pageloom.engines.onnx.detect import Detector, Quad
from pageloom.engines.onnx.languages import mute_share
from pageloom.engines.onnx.lines import ReadLine, mean_score
from pageloom.engines.onnx.marks import mended, trimmed
from pageloom.engines.onnx.recognise import Recogniser, Said
from pageloom.engines.onnx.session import Floats, Pixels, Session
from pageloom.engines.onnx.spaces import respaced
from pageloom.engines.onnx.words import words_of
from pageloom.model.blocks import Confidence
from pageloom.model.geometry import Box
from pageloom.model.image import TextLine

DETECT_PX = 1600  # measured: 960 loses 13 % of the digits of a dense table, 1280 a third of a percent
# Read again by the small model below this mean probability (measured on simulated scans: 0.98 -> 0.66 % errors).
UNSURE = 0.95
# The tiny model knows no kana and few Traditional characters, and is too sure of what it puts in their place.
UNSURE_BEYOND_TINY = 0.985
PAGE_UNSURE = 0.90
SURE_ACCENT = 0.7  # real accents on French pages have .73 and more, imagined ones .3-.6
SAMPLES = 12  # lines read by the small model before it reads a whole page
MUTE_SAMPLE = 0.6
NOISE = 0.5  # PaddleOCR drops what is read below this
SURE_WAY = 0.8  # a vertical line read below this is tried the other way round
SIZE_OF_BOX = 0.75  # type size / height of the found line

_BEYOND_TINY = ("ja", "zh-Hant", "zh-TW", "zh-HK", "zh-MO")
MODELS = ("ocr_tiny_det", "ocr_tiny_rec", "ocr_tiny_dict", "ocr_small_rec", "ocr_small_dict", "orientation")


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
        for name in MODELS:
            weights.path(name, models)

    @cached_property
    def detector(self) -> Detector:
        """Finds lines."""
        return Detector(self.session("ocr_tiny_det"))

    @cached_property
    def tiny(self) -> Recogniser:
        """The fast recogniser."""
        return Recogniser(self.session("ocr_tiny_rec"), weights.path("ocr_tiny_dict", self._models))

    @cached_property
    def small(self) -> Recogniser:
        """The better recogniser, four times slower."""
        return Recogniser(self.session("ocr_small_rec"), weights.path("ocr_small_dict", self._models))

    def session(self, name: str) -> Session:
        """A model of the folder, loaded."""
        return Session(weights.path(name, self._models), self._threads)

    def lines(self, rgb: Pixels, dpi: float) -> list[TextLine]:
        """Lines, top to bottom.

        Args:
            rgb: uint8 [H, W, 3], upright.
            dpi: pixels an inch of page; tells the size of letters in points.

        Returns:
            Lines with boxes in fractions 0-1 of the image.
        """
        height, width = rgb.shape[:2]
        scale = np.array([width, height], np.float32)
        read = without_noise(self.read(rgb, self.quads(rgb)))
        return [text_line(line, line.quad.corners / scale, dpi) for line in read]

    def quads(self, rgb: Pixels) -> list[Quad]:
        """Where lines stand."""
        return self.detector.quads(rgb, DETECT_PX)

    def read(self, rgb: Pixels, quads: Sequence[Quad], languages: Sequence[str] = ()) -> list[ReadLine]:
        """Read found lines.

        Args:
            rgb: the image in which the quads were found.
            quads: its lines.
            languages: BCP 47 tags to be expected.
        """
        return _Cascade(rgb, quads, self).read(languages)


class _Cascade:
    """One page's lines on their way through the two models."""

    def __init__(self, rgb: Pixels, quads: Sequence[Quad], ocr: Ocr) -> None:
        self._quads = [roomy(quad) for quad in quads]
        self._crops = [cut(rgb, quad) for quad in self._quads]
        self._ocr = ocr
        self._again: set[int] = set()
        self._lines: list[ReadLine] = []

    def read(self, languages: Sequence[str]) -> list[ReadLine]:
        pairs = zip(self._quads, self._crops, strict=True)
        self._lines = [_reading(quad, crop, self._ocr.tiny) for quad, crop in pairs]
        if any(language.startswith(_BEYOND_TINY) for language in languages):
            self._improve(UNSURE_BEYOND_TINY)
        elif mean_score(self._lines) < PAGE_UNSURE:
            self._improve(1.0, self._longest())
            if mute_share([self._lines[place] for place in self._again]) > MUTE_SAMPLE:
                self._silence()
            self._improve(1.0)
        else:
            self._improve(UNSURE)
            if any(self._beyond_tiny(place) for place in self._again):
                self._improve(UNSURE_BEYOND_TINY)
        done = zip(self._lines, self._crops, strict=True)
        return [replace(line, said=respaced(line.said, facing(crop, line.angle))) for line, crop in done]

    def _longest(self) -> list[int]:
        return sorted(range(len(self._quads)), key=lambda place: -self._quads[place].width)[:SAMPLES]

    def _silence(self) -> None:
        """The small model is mute on these letters: what the tiny one made of them is no text."""
        for place, line in enumerate(self._lines):
            if place not in self._again and line.said.score < UNSURE:
                self._lines[place] = replace(line, said=Said(()))
                self._again.add(place)

    def _improve(self, limit: float, places: Sequence[int] | None = None) -> None:
        for place in range(len(self._lines)) if places is None else places:
            line = self._lines[place]
            if (line.said.score < limit or _odd_accents(line.said)) and place not in self._again:
                self._again.add(place)
                self._lines[place] = _reading(line.quad, self._crops[place], self._ocr.small)

    def _beyond_tiny(self, place: int) -> bool:
        said = self._lines[place].said
        return any(glyph.probability > UNSURE and not self._ocr.tiny.knows(glyph.text) for glyph in said.glyphs)


def without_noise(lines: Sequence[ReadLine]) -> list[ReadLine]:
    """Lines that say something; specks and drawings read as letters are left out."""
    return [line for line in lines if line.said.text.strip() and line.said.score >= NOISE]


def text_line(line: ReadLine, corners: Floats, dpi: float) -> TextLine:
    """A read line as the layout room takes it.

    Args:
        line: what was read.
        corners: float32 [4, 2], its corners in the frame wanted, fractions.
        dpi: pixels an inch of page.
    """
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    across = line.quad.width if line.angle else line.quad.height
    return TextLine(
        text=trimmed(mended(line.said.text))[0].strip(),
        box=Box(float(x0), float(y0), float(x1), float(y1)).clamped(),
        confidence=Confidence(round(line.said.score, 4), "recogniser"),
        words=words_of(line.said, corners, line.angle),
        size=across * 72.0 / dpi * SIZE_OF_BOX,
        angle=float(line.angle),
    )


def _odd_accents(said: Said) -> bool:
    """Whether an accented or Greek letter stands there that may be a speck over a plain one ("Seqüence")."""
    return any("\u00c0" <= glyph.text <= "\u03ff" and glyph.probability < SURE_ACCENT for glyph in said.glyphs)


def _reading(quad: Quad, crop: Pixels, recogniser: Recogniser) -> ReadLine:
    if not is_tall(quad):
        return ReadLine(quad, recogniser.read(crop))
    down = ReadLine(quad, recogniser.read(facing(crop, 90)), 90)
    if down.said.score >= SURE_WAY:
        return down
    up = ReadLine(quad, recogniser.read(facing(crop, 270)), 270)
    return max(down, up, key=lambda line: line.said.score)
