"""One page on its way: turned upright, its lines found, deskewed, read, composed into blocks, placed back."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np
import onnxruntime

from pageloom.engines.onnx.detect import Quad
from pageloom.engines.onnx.frames import Deskew, Turn, as_turn, before_turn, opposite, turned
from pageloom.engines.onnx.languages import MUTE, mute_quads, mute_share, unread
from pageloom.engines.onnx.lines import ReadLine, mean_score
from pageloom.engines.onnx.marks import trimmed
from pageloom.engines.onnx.ocr import Ocr, text_line, without_noise
from pageloom.engines.onnx.orientation import (
    SURE,
    WIDEST,
    Orientation,
    lies_sideways,
    reads_better_upside_down,
    skew_of,
    turn_of_sideways,
)
from pageloom.engines.onnx.session import Floats, Pixels
from pageloom.engines.onnx.tesseract import Tesseract, likeliest, mean_confidence
from pageloom.errors import UnreadablePage
from pageloom.layout.compose import LayoutTools, Mode, compose
from pageloom.layout.page import LayoutPage, Reread
from pageloom.model.document import EngineName
from pageloom.model.geometry import Box, PageSize, Placement
from pageloom.model.identify import numbered
from pageloom.model.image import PageImage, TextLine
from pageloom.model.placing import placed
from pageloom.model.reading import PageRequest, Reading

LAYOUT_DPI = 150.0  # rules, seals and regions are measured at this resolution
BELIEVED = 0.5  # mean confidence of tesseract from which its text is taken
SKEW_LEAST = 0.3  # degrees; below, lines are straight enough for layout and tables
DOUBTFUL = 0.85  # a page read below this mean score is tried upside down


@dataclass(frozen=True, slots=True)
class _Upright:
    """A page the right way up, its lines found."""

    rgb: Pixels
    turn: Turn
    quads: list[Quad]


class OnnxEngine:
    """Reads pages with models that run on any processor."""

    needs_pixels = True

    def __init__(self, models: Path | None, layout: Mode, languages: Sequence[str] = (), threads: int = 1) -> None:
        """Load what every page needs; the small recogniser is loaded when a line needs it.

        Raises:
            ModelsMissing: the model files are not on this machine.
        """
        self._ocr = Ocr(models, threads)
        self._tools = LayoutTools.load(models, layout)
        self._languages = tuple(languages)
        self.name = EngineName(name="onnx", version=onnxruntime.__version__, model="PP-OCRv6")

    @cached_property
    def _tesseract(self) -> Tesseract | None:
        return Tesseract.find()

    @cached_property
    def _orientation(self) -> Orientation:
        return Orientation(self._ocr.session("orientation"))

    def read(self, request: PageRequest) -> Reading:
        """Read one page.

        Raises:
            UnreadablePage: the request has no pixels.
        """
        if request.image is None:
            raise UnreadablePage(f"page {request.number}: no pixels to read")
        started = time.monotonic()
        languages = request.languages or self._languages
        upright, read = self._lines(request.image.rgb, languages)
        sheet = _Sheet(request.image, upright)
        score, notes = mean_score(read) if read else None, list[str]()
        lines = [text_line(line, sheet.corners(line.quad), request.image.dpi) for line in without_noise(read)]
        if any(trimmed(line.said.text)[1] for line in read):
            notes.append("runs_trimmed")
        if unread(languages) or mute_share(read) > MUTE:
            other = self._other_tongue(sheet, read, languages)
            lines, score = (other, mean_confidence(other)) if other else (lines, score)
            notes.append("read_by_tesseract" if other else "language_unsupported")
        page = sheet.page(lines, languages, lambda box, turn: self._again(sheet, box, turn))
        blocks = placed(compose(page, self._tools), request.image.placement.after(sheet.placement))
        return Reading(
            blocks=numbered(request.number, blocks),
            engine=self.name,
            raw="\n".join(line.text for line in lines),
            seconds=time.monotonic() - started,
            score=score,
            notes=tuple(notes),
            turned=upright.turn,
            skew=round(sheet.skew, 2),
        )

    def _other_tongue(self, sheet: "_Sheet", read: Sequence[ReadLine], languages: Sequence[str]) -> list[TextLine]:
        """The page's lines by tesseract, or none when it is not there or makes nothing of them either."""
        tesseract = self._tesseract
        if tesseract is None:
            return []
        wanted = unread(languages)
        if wanted:
            names = [name for name in wanted if name in tesseract.languages]
        else:
            names = likeliest(tesseract, sheet.upright.rgb, mute_quads(read), sheet.dpi)
        if not names:
            return []
        beside = [name for name in ("eng",) if name in tesseract.languages]
        lines = tesseract.lines(sheet.rgb, [*names, *beside], sheet.dpi)
        return lines if mean_confidence(lines) >= BELIEVED else []

    def _again(self, sheet: "_Sheet", box: Box, turn: int) -> Sequence[TextLine]:
        """One region of the upright page read again, turned clockwise first; boxes in the frame of the page."""
        height, width = sheet.rgb.shape[:2]
        x0, y0, x1, y1 = box.in_pixels(width, height)
        if x1 - x0 < 2 or y1 - y0 < 2:
            return []
        way = as_turn(turn)
        region = Placement((x1 - x0) / width, 0, x0 / width, 0, (y1 - y0) / height, y0 / height)
        back = region.after(before_turn(way))
        lines = self._ocr.lines(turned(sheet.rgb[y0:y1, x0:x1], way), sheet.dpi)
        return [_moved(line, back, (360 - way) % 360) for line in lines]

    def _upright(self, rgb: Pixels) -> _Upright:
        """The page turned as the model says where it is sure, else as the lines say."""
        turn, chance = self._orientation.guess(rgb)
        height, width = rgb.shape[:2]
        strip = max(height, width) > WIDEST * min(height, width)
        if chance >= SURE and turn and not strip:
            found = self._found(rgb, turn)
            if not lies_sideways(found.quads):
                return found
        found = self._found(rgb, 0)
        if not lies_sideways(found.quads):
            return found
        turn = turn_of_sideways(found.rgb, found.quads, self._ocr.tiny.read)
        return self._found(rgb, turn) if turn else found

    def _found(self, rgb: Pixels, turn: Turn) -> _Upright:
        facing = turned(rgb, turn)
        return _Upright(facing, turn, self._ocr.quads(facing))

    def _lines(self, rgb: Pixels, languages: Sequence[str]) -> tuple[_Upright, list[ReadLine]]:
        upright = self._upright(rgb)
        lines = self._ocr.read(upright.rgb, upright.quads, languages)
        if mean_score(lines) < DOUBTFUL and reads_better_upside_down(upright.rgb, upright.quads, self._ocr.tiny.read):
            upright = self._found(rgb, opposite(upright.turn))
            lines = self._ocr.read(upright.rgb, upright.quads, languages)
        return upright, lines


class _Sheet:
    """The upright page after deskewing: its pixels, and how points get there and back.

    Attributes:
        rgb: uint8 [H, W, 3].
        placement: fractions of these pixels to fractions of the image that was given.
        skew: degrees, clockwise positive, by which the lines were tilted.
    """

    def __init__(self, image: PageImage, upright: _Upright) -> None:
        self.upright = upright
        self.dpi = image.dpi
        self.skew = skew_of(upright.quads)
        self._image = image
        height, width = upright.rgb.shape[:2]
        self._deskew = Deskew(width, height, self.skew) if abs(self.skew) >= SKEW_LEAST else None
        self.rgb, self.placement = upright.rgb, before_turn(upright.turn)
        if self._deskew is not None:
            self.rgb = self._deskew.image(upright.rgb)
            self.placement = self.placement.after(self._deskew.placement())

    def corners(self, quad: Quad) -> Floats:
        """Corners of a quad of the upright page, in fractions of the deskewed one."""
        points = quad.corners if self._deskew is None else self._deskew.points(quad.corners)
        return np.asarray(points / np.array([self.rgb.shape[1], self.rgb.shape[0]]), np.float32)

    def page(self, lines: Sequence[TextLine], languages: Sequence[str], reread: Reread) -> LayoutPage:
        """The page as the layout room sees it: pixels at its own resolution, lines in fractions of them."""
        height, width = self.rgb.shape[:2]
        size = PageSize(width * 72 / self.dpi, height * 72 / self.dpi)
        rgb, dpi = self.rgb, self.dpi
        if dpi > 1.1 * LAYOUT_DPI:
            dpi = LAYOUT_DPI
            smaller = (round(width * dpi / self.dpi), round(height * dpi / self.dpi))
            rgb = np.asarray(cv2.resize(rgb, smaller, interpolation=cv2.INTER_AREA), np.uint8)
        return LayoutPage(
            number=self._image.number,
            size=size,
            lines=tuple(lines),
            image=PageImage(self._image.number, size, rgb, dpi, self.placement, self._image.colour),
            languages=tuple(languages),
            reread=reread,
        )


def _moved(line: TextLine, back: Placement, angle: int) -> TextLine:
    words = tuple(replace(word, box=back.box(word.box)) for word in line.words)
    return replace(line, box=back.box(line.box), words=words, angle=(line.angle + angle) % 360)
