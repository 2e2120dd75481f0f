"""The text layer of a PDF page through PyMuPDF (AGPL-3.0): an optional extra, imported only when it is chosen."""

import math
from collections.abc import Iterator
from typing import Any

from pageloom.errors import DamagedDocument, MissingExtra
from pageloom.model.geometry import PageSize
from pageloom.model.image import PageText
from pageloom.sources.characters import character
from pageloom.sources.glyphs import SPACE_NONE, SPACE_WRITTEN, Glyph, Style, along
from pageloom.sources.health import Counts
from pageloom.sources.pdf_objects import read_objects
from pageloom.sources.pdf_text import font_look, mark_invisible, page_text, shown_affine

try:
    import pymupdf
except ModuleNotFoundError as error:
    raise MissingExtra("PyMuPDF", "pymupdf") from error

_FOREIGN = (RuntimeError, ValueError, TypeError, IndexError)
_ITALIC, _MONO, _BOLD = 1 << 1, 1 << 3, 1 << 4  # PyMuPDF, "Font flags" of a span


class MupdfText:
    """Reads text layers with PyMuPDF; rulings, images and what hides text come from PDFium's objects."""

    def __init__(self, content: bytes) -> None:
        try:
            self._document = pymupdf.open(stream=content, filetype="pdf")
        except _FOREIGN as error:
            raise DamagedDocument("PyMuPDF cannot read this PDF; the pdfium back end can") from error

    def read(self, number: int, page: Any, size: PageSize) -> PageText:  # noqa: ANN401 - ctypes handle
        """Text layer of a page.

        Raises:
            DamagedDocument: PyMuPDF cannot interpret the page.
        """
        objects = read_objects(page, shown_affine(page, size))
        try:
            glyphs = list(_glyphs(self._document[number - 1], size))
        except _FOREIGN as error:
            raise DamagedDocument(f"page {number}: PyMuPDF cannot read it") from error
        return page_text(mark_invisible(glyphs, objects.unseen), Counts(), objects, size)

    def close(self) -> None:
        """Close the document."""
        self._document.close()


def _glyphs(page: Any, size: PageSize) -> Iterator[Glyph]:  # noqa: ANN401 - untyped library
    turn = page.rotation_matrix  # its text frame is the page before /Rotate
    scale = size.width / page.rect.width
    space, broken = SPACE_NONE, False
    for line in (line for block in page.get_text("rawdict")["blocks"] for line in block.get("lines", ())):
        cos, sin = line["dir"]
        angle = (math.degrees(math.atan2(sin, cos)) + page.rotation) % 360.0
        broken = True
        for span in line["spans"]:
            style = _style(span, angle, scale)
            for char in span["chars"]:
                if not char["c"].strip():
                    space = SPACE_WRITTEN
                    continue
                x0, y0, x1, y1 = (value * scale for value in pymupdf.Rect(char["bbox"]) * turn)
                x, y = (value * scale for value in pymupdf.Point(char["origin"]) * turn)
                width = along(angle, x1 - x0, y1 - y0, style.size)
                text = character(ord(char["c"][0]))
                yield Glyph(text, x0, y0, x1, y1, x0, x0 + width, x, y, style, space, broken)
                space, broken = SPACE_NONE, False


def _style(span: dict[str, Any], angle: float, scale: float) -> Style:
    font, bold, italic, mono = font_look(span["font"], 0)
    flags = span["flags"]
    return Style(
        span["size"] * scale,
        angle,
        font,
        bold or bool(flags & _BOLD),
        italic or bool(flags & _ITALIC),
        mono or bool(flags & _MONO),
    )
