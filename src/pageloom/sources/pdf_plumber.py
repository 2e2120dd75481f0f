"""The text layer of a PDF page through pdfplumber: slower than PDFium, another opinion on glyphs and rulings."""

import io
import logging
import math
from collections.abc import Iterator
from typing import Any

import pdfplumber
from pdfminer.pdfexceptions import PDFException
from pdfminer.psexceptions import PSException
from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

from pageloom.errors import DamagedDocument
from pageloom.model.geometry import PageSize
from pageloom.model.image import PageText
from pageloom.sources.characters import UNKNOWN, character
from pageloom.sources.glyphs import SPACE_NONE, SPACE_WRITTEN, Glyph, Style, along, is_rtl
from pageloom.sources.health import Counts
from pageloom.sources.pdf_objects import SHORT_PT, Rect, read_objects
from pageloom.sources.pdf_text import font_look, mark_invisible, page_text, shown_affine

# pdfminer raises what its parser stumbles over: all of these were seen on damaged files.
_FOREIGN = (
    PDFException,
    PSException,
    PdfminerException,
    MalformedPDFException,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    AssertionError,
    RecursionError,
    ZeroDivisionError,
    OverflowError,
)


class PlumberText:
    """Reads text layers and rulings with pdfplumber; images and what hides text come from PDFium's objects.

    pdfplumber does not tell the text rendering mode, so invisible text is found by PDFium's boxes of it.
    """

    def __init__(self, content: bytes) -> None:
        logging.getLogger("pdfminer").setLevel(logging.ERROR)  # it logs words of the document
        try:
            self._document = pdfplumber.open(io.BytesIO(content))
        except _FOREIGN as error:
            raise DamagedDocument("pdfplumber cannot read this PDF; the pdfium back end can") from error

    def read(self, number: int, page: Any, size: PageSize) -> PageText:  # noqa: ANN401 - ctypes handle
        """Text layer of a page.

        Raises:
            DamagedDocument: pdfplumber cannot interpret the page.
        """
        objects = read_objects(page, shown_affine(page, size))
        try:
            plumbed = self._document.pages[number - 1]
            to_shown = _Shown(plumbed, size)
            glyphs = _logical(list(_glyphs(plumbed.chars, to_shown)))
            objects.rulings = [
                to_shown.rect(edge)
                for edge in (*plumbed.lines, *plumbed.rect_edges)
                if max(edge["width"], edge["height"]) >= SHORT_PT and min(edge["width"], edge["height"]) < 0.5
            ]
            plumbed.close()  # lets go of its cached objects
        except _FOREIGN as error:
            raise DamagedDocument(f"page {number}: pdfplumber cannot read it") from error
        return page_text(mark_invisible(glyphs, objects.unseen), Counts(), objects, size)

    def close(self) -> None:
        """Let go of the file; pdfplumber's own `close` would first read every page."""
        self._document.stream.close()


class _Shown:
    """From pdfplumber's frame (y down, origin of the MediaBox) to points of the page as shown."""

    def __init__(self, plumbed: Any, size: PageSize) -> None:  # noqa: ANN401 - untyped library
        x0, top, x1, bottom = plumbed.cropbox
        media = plumbed.mediabox
        left, right = max(x0, media[0]), min(x1, media[2])
        self._top, low = max(top, media[1]), min(bottom, media[3])
        self._left = left
        self.scale_x = size.width / (right - left)
        self.scale_y = size.height / (low - self._top)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """One point."""
        return (x - self._left) * self.scale_x, (y - self._top) * self.scale_y

    def rect(self, thing: dict[str, Any]) -> Rect:
        """The box of one of pdfplumber's objects."""
        return (*self.point(thing["x0"], thing["top"]), *self.point(thing["x1"], thing["bottom"]))


def _glyphs(chars: list[dict[str, Any]], to_shown: _Shown) -> Iterator[Glyph]:
    space = SPACE_NONE
    for char in chars:
        text = _text(char["text"])
        if not text.strip():
            space = SPACE_WRITTEN
            continue
        a, b, _, _, e, f = char["matrix"]
        box = to_shown.rect(char)
        upright = box[2] - box[0], box[3] - box[1]
        x, y = to_shown.point(e, char["top"] + (char["y1"] - f))
        angle = math.degrees(math.atan2(-b, a)) % 360.0
        size = char["size"] * to_shown.scale_y
        if angle:  # pdfminer's size is the height of the upright box
            size = along(angle + 90.0, *upright, size)
        style = Style(size or 1.0, angle, *font_look(char["fontname"], 0))
        width = along(angle, *upright, size)
        yield Glyph(text, *box, box[0], box[0] + width, x, y, style, space)
        space = SPACE_NONE


def _text(text: str) -> str:
    """Characters put right; "(cid:7)" is pdfminer's word for a glyph without a text."""
    return UNKNOWN if text.startswith("(cid:") else "".join(character(ord(one)) for one in text)


def _logical(glyphs: list[Glyph]) -> list[Glyph]:
    """Right-to-left words, which most files draw from left to right, in reading order."""
    out: list[Glyph] = []
    start = 0
    while start < len(glyphs):
        end = start + 1
        if is_rtl(glyphs[start].text):
            while end < len(glyphs) and is_rtl(glyphs[end].text) and glyphs[end].y == glyphs[start].y:
                end += 1
        word = glyphs[start:end]
        if end - start > 1 and word[0].x < word[-1].x:
            word = [glyph._replace(space=SPACE_NONE) for glyph in reversed(word)]
            word[0] = word[0]._replace(space=glyphs[start].space)
        out.extend(word)
        start = end
    return out
