"""One page on its way: turned upright, its lines found, deskewed, read, composed into blocks, placed back."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import onnxruntime

from pageloom.engines.onnx.detect import Quad
from pageloom.engines.onnx.frames import Deskew, Turn, before_turn, opposite, turned
from pageloom.engines.onnx.ocr import Ocr, ReadLine, mean_score, text_line, without_noise
from pageloom.engines.onnx.orientation import (
    SURE,
    WIDEST,
    Orientation,
    lies_sideways,
    reads_better_upside_down,
    skew_of,
    turn_of_sideways,
)
from pageloom.engines.onnx.session import Pixels
from pageloom.errors import UnreadablePage
from pageloom.layout.compose import LayoutTools, Mode, compose
from pageloom.layout.page import LayoutPage
from pageloom.model.document import EngineName
from pageloom.model.geometry import PageSize, Placement
from pageloom.model.identify import numbered
from pageloom.model.image import PageImage
from pageloom.model.placing import placed
from pageloom.model.reading import PageRequest, Reading

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
        image = request.image
        languages = request.languages or self._languages
        upright, lines = self._lines(image.rgb, languages)
        score = mean_score(lines) if lines else None
        skew = skew_of(upright.quads)
        page, placement = self._page(image, upright, without_noise(lines), skew, languages)
        blocks = placed(compose(page, self._tools), image.placement.after(placement))
        return Reading(
            blocks=numbered(request.number, blocks),
            engine=self.name,
            raw="\n".join(line.said.text for line in lines),
            seconds=time.monotonic() - started,
            score=score,
            turned=upright.turn,
            skew=round(skew, 2),
        )

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

    def _page(
        self, image: PageImage, upright: _Upright, lines: Sequence[ReadLine], skew: float, languages: Sequence[str]
    ) -> tuple[LayoutPage, Placement]:
        """The page as the layout room sees it, and where that lies on the image that was given."""
        height, width = upright.rgb.shape[:2]
        rgb, placement = upright.rgb, before_turn(upright.turn)
        corners = [line.quad.corners for line in lines]
        if abs(skew) >= SKEW_LEAST:
            deskew = Deskew(width, height, skew)
            rgb, placement = deskew.image(rgb), placement.after(deskew.placement())
            corners = [deskew.points(points) for points in corners]
        scale = np.array([rgb.shape[1], rgb.shape[0]], np.float32)
        found = tuple(text_line(line, points / scale, image.dpi) for line, points in zip(lines, corners, strict=True))
        return LayoutPage(
            number=image.number,
            size=PageSize(rgb.shape[1] * 72 / image.dpi, rgb.shape[0] * 72 / image.dpi),
            lines=found,
            image=PageImage(image.number, image.size, rgb, image.dpi, placement, image.colour),
            languages=tuple(languages),
        ), placement
