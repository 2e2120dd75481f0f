"""The text layer of a PDF page through PDFium: glyphs with boxes, fonts, and whether they can be seen."""

import ctypes
import math
import re
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium

from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import PageText, Ruling
from pageloom.sources.glyphs import SOFT_HYPHEN, Glyph, Style, lines_from
from pageloom.sources.health import Counts, health_of
from pageloom.sources.pdf_objects import Affine, PageObjects, Rect, mapped, mapped_rect, read_objects

MAX_GLYPHS = 200_000  # a page of 6-point print has 15,000
_GRID = 1_000_000  # FPDF_PageToDevice answers in whole device units; a fine grid keeps 1/1000 point
_INVISIBLE_MODES = frozenset({pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP})
_HYPHENS = frozenset({0x02, 0xFFFE})  # how PDFium spells a hyphen at a line's end that belongs to a broken word
_FIXED_PITCH, _ITALIC, _FORCE_BOLD = 1 << 0, 1 << 6, 1 << 18  # ISO 32000-1 table 123
_SUBSET = re.compile(r"^[A-Z]{6}\+")


class PdfiumText:
    """Reads text layers with PDFium."""

    def read(self, number: int, page: Any, size: PageSize) -> PageText:  # noqa: ANN401, ARG002 - contract
        """Text layer of a page."""
        to_shown = shown_affine(page, size)
        objects = read_objects(page, to_shown)
        text_page = pdfium.FPDFText_LoadPage(page)
        if not text_page:
            return page_text((), Counts(), objects, size)
        try:
            glyphs, counts = _Layer(text_page, to_shown, objects, size).read()
        finally:
            pdfium.FPDFText_ClosePage(text_page)
        return page_text(glyphs, counts, objects, size)

    def close(self) -> None:
        """Nothing is held."""


def shown_affine(page: Any, size: PageSize) -> Affine:  # noqa: ANN401 - ctypes handle
    """From PDF user space to points of the page as shown (MediaBox origin, CropBox, /Rotate and UserUnit applied)."""
    x, y = ctypes.c_int(), ctypes.c_int()

    def device(at_x: float, at_y: float) -> tuple[float, float]:
        pdfium.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, at_x, at_y, ctypes.byref(x), ctypes.byref(y))
        return x.value * size.width / _GRID, y.value * size.height / _GRID

    reach = max(size.width, size.height)
    origin, right, up = device(0, 0), device(reach, 0), device(0, reach)
    return (
        (right[0] - origin[0]) / reach,
        (right[1] - origin[1]) / reach,
        (up[0] - origin[0]) / reach,
        (up[1] - origin[1]) / reach,
        *origin,
    )


def page_text(
    glyphs: tuple[Glyph, ...] | list[Glyph], counts: Counts, objects: PageObjects, size: PageSize
) -> PageText:
    """Lines, health, rulings and images of a page, all as fractions of it."""
    lines = lines_from(glyphs, size, objects.rulings)
    images = [fraction(box, size) for box in objects.images]
    return PageText(
        lines=lines,
        health=health_of(counts, lines, images),
        rulings=tuple(
            Ruling(x0 / size.width, y0 / size.height, x1 / size.width, y1 / size.height)
            for x0, y0, x1, y1 in objects.rulings
        ),
        images=tuple(images),
        has_content=objects.drawn or bool(glyphs),
    )


def fraction(box: Rect, size: PageSize) -> Box:
    """A box in points as fractions of the page, clipped to it."""
    return Box(box[0] / size.width, box[1] / size.height, box[2] / size.width, box[3] / size.height).clamped()


class _Layer:
    """One walk through the characters of a page."""

    def __init__(self, text_page: Any, to_shown: Affine, objects: PageObjects, size: PageSize) -> None:  # noqa: ANN401
        self.text_page = text_page
        self.to_shown = to_shown
        self.objects = objects
        self.size = size
        self.fonts: dict[tuple[str, int, int], tuple[str, bool, bool, bool]] = {}
        self.plain = to_shown[1] == to_shown[2] == 0.0 and to_shown[0] > 0 > to_shown[3]

    def read(self) -> tuple[list[Glyph], Counts]:
        """All glyphs that are not white space, doubled ones left out."""
        glyphs: list[Glyph] = []
        counts = Counts()
        seats: dict[tuple[str, int, int], tuple[float, float]] = {}
        style, source, spaced, broken = None, None, False, False
        for index in range(min(pdfium.FPDFText_CountChars(self.text_page), MAX_GLYPHS)):
            code = pdfium.FPDFText_GetUnicode(self.text_page, index)
            if code in (0x20, 0x0A, 0x0D, 0x09, 0xA0, 0x3000) or code == 0:
                spaced = True
                broken = broken or code in (0x0A, 0x0D)
                continue
            thing = pdfium.FPDFText_GetTextObject(self.text_page, index)
            address = ctypes.addressof(thing.contents) if thing else 0
            if style is None or address != source:
                style, source = self._style(index, thing, address), address
            glyph = self._glyph(index, code, style, spaced=spaced, broken=broken)
            spaced = broken = False
            counts.add(glyph.text, unmapped=bool(pdfium.FPDFText_HasUnicodeMapError(self.text_page, index) == 1))
            part = bool(glyphs) and glyphs[-1].ink == glyph.ink and glyphs[-1].style.source == address
            if not part and _is_double(glyph, seats):  # parts of a ligature share one box
                counts.doubled += 1
                continue
            glyphs.append(glyph)
        return self._seen(glyphs, counts), counts

    def _glyph(self, index: int, code: int, style: Style, *, spaced: bool, broken: bool) -> Glyph:
        page, affine = self.text_page, self.to_shown
        left, right, bottom, top = _L, _R, _B, _T
        pdfium.FPDFText_GetCharBox(page, index, left, right, bottom, top)
        ink = mapped_rect(affine, left.value, bottom.value, right.value, top.value)
        pdfium.FPDFText_GetLooseCharBox(page, index, _ROOM)
        room = mapped_rect(affine, _ROOM.left, _ROOM.bottom, _ROOM.right, _ROOM.top)
        pdfium.FPDFText_GetCharOrigin(page, index, left, bottom)
        x, y = mapped(affine, left.value, bottom.value)
        text = SOFT_HYPHEN if code in _HYPHENS else chr(code) if code < 0x110000 else "\ufffd"
        return Glyph(text, ink, room, x, y, style, spaced, broken)

    def _style(self, index: int, thing: Any, address: int) -> Style:  # noqa: ANN401 - ctypes handle
        page = self.text_page
        pdfium.FPDFText_GetMatrix(page, index, _MATRIX)
        a, b, c, d = _MATRIX.a, _MATRIX.b, _MATRIX.c, _MATRIX.d
        ta, tb, tc, td, _, _ = self.to_shown
        along = a * ta + b * tc, a * tb + b * td
        up = c * ta + d * tc, c * tb + d * td
        size = pdfium.FPDFText_GetFontSize(page, index) * math.hypot(*up)
        angle = math.degrees(math.atan2(along[1], along[0])) % 360.0
        font, bold, italic, mono = self._font(index)
        seen = not (thing and pdfium.FPDFTextObj_GetTextRenderMode(thing) in _INVISIBLE_MODES)
        return Style(abs(size) or 1.0, angle, font, bold, italic, mono, seen, address)

    def _font(self, index: int) -> tuple[str, bool, bool, bool]:
        page = self.text_page
        length = pdfium.FPDFText_GetFontInfo(page, index, _NAME, len(_NAME), _FLAGS)
        name = _NAME.raw[: max(0, min(length, len(_NAME)) - 1)].decode("utf-8", "replace")
        weight = pdfium.FPDFText_GetFontWeight(page, index)
        key = (name, _FLAGS.value, weight)
        if key not in self.fonts:
            self.fonts[key] = font_look(name, _FLAGS.value, weight)
        return self.fonts[key]

    def _seen(self, glyphs: list[Glyph], counts: Counts) -> list[Glyph]:
        """Mark what lies outside the page or under an opaque image or area."""
        covers = np.array([(*box, order) for box, order in self.objects.covers], float).reshape(-1, 5)
        hidden: dict[int, bool] = {}
        marked: list[Glyph] = []
        for glyph in glyphs:
            x, y = (glyph.ink[0] + glyph.ink[2]) / 2, (glyph.ink[1] + glyph.ink[3]) / 2
            seen = glyph.style.seen and -1 <= x <= self.size.width + 1 and -1 <= y <= self.size.height + 1
            if seen and len(covers):
                seen = not self._covered(glyph.style.source, x, y, covers, hidden)
            counts.invisible += not seen
            marked.append(glyph if seen == glyph.style.seen else glyph._replace(style=glyph.style._replace(seen=seen)))
        return marked

    def _covered(self, source: int, x: float, y: float, covers: Any, hidden: dict[int, bool]) -> bool:  # noqa: ANN401
        """Whether something opaque was painted over a text object later; asked once for each object."""
        if source not in hidden:
            order = self.objects.order.get(source, -1)
            inside = (covers[:, 0] < x) & (x < covers[:, 2]) & (covers[:, 1] < y) & (y < covers[:, 3])
            hidden[source] = order >= 0 and bool((inside & (covers[:, 4] > order)).any())
        return hidden[source]


# One set of out-parameters for all calls: making ctypes objects costs more than the calls.
_L, _R, _B, _T = (ctypes.c_double() for _ in range(4))
_ROOM = pdfium.FS_RECTF()
_MATRIX = pdfium.FS_MATRIX()
_NAME = ctypes.create_string_buffer(256)
_FLAGS = ctypes.c_int()


def font_look(name: str, flags: int, weight: int) -> tuple[str, bool, bool, bool]:
    """Name without its subset mark, and whether the font is bold, italic, of fixed pitch."""
    plain = _SUBSET.sub("", name)
    low = plain.lower()
    bold = weight >= 600 or bool(flags & _FORCE_BOLD) or bool(re.search(r"bold|black|heavy|cmbx|-bd|semibold", low))
    italic = bool(flags & _ITALIC) or bool(re.search(r"italic|oblique|cmti|-it\b", low))
    mono = bool(flags & _FIXED_PITCH) or bool(re.search(r"courier|mono|consol|cmtt|typewriter|fixed", low))
    return plain, bold, italic, mono


def _is_double(glyph: Glyph, seats: dict[tuple[str, int, int], tuple[float, float]]) -> bool:
    """Whether the same character was already drawn within 0.12 em: bold print made by drawing twice."""
    reach = 0.12 * glyph.style.size
    step = max(reach, 0.1) * 2
    column, row = round(glyph.x / step), round(glyph.y / step)
    across = column + (1 if glyph.x / step > column else -1)
    down = row + (1 if glyph.y / step > row else -1)
    for key in (
        (glyph.text, column, row),
        (glyph.text, across, row),
        (glyph.text, column, down),
        (glyph.text, across, down),
    ):
        seat = seats.get(key)
        if seat is not None and abs(seat[0] - glyph.x) < reach and abs(seat[1] - glyph.y) < reach:
            return True
    seats[glyph.text, column, row] = glyph.x, glyph.y
    return False
