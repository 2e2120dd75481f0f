"""The text layer of a PDF page through PDFium: glyphs with boxes, fonts, and whether they can be seen."""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pypdfium2.raw as pdfium

from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import PageText, Ruling
from pageloom.sources.characters import UNKNOWN, character, composed
from pageloom.sources.glyphs import SPACE_GUESSED, SPACE_NONE, SPACE_WRITTEN, Glyph, Style, along
from pageloom.sources.health import Counts, health_of
from pageloom.sources.lines import lines_from
from pageloom.sources.pdf_objects import INVISIBLE_MODES, WHITE, Affine, PageObjects, Rect, read_objects

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_GLYPHS = 200_000  # a page of 6-point print has 15,000
_GRID = 1_000_000  # FPDF_PageToDevice answers in whole device units; a fine grid keeps 1/1000 point
# How PDFium spells every hyphen at the end of a line, whether it belongs to the word or not: it is printed as "-".
_LINE_END_HYPHENS = frozenset({0x02, 0xFFFE})
_BLANKS = frozenset({0x09, 0x0A, 0x0D, 0x20, 0xA0, 0x2003, 0x2002, 0x2009, 0x3000, 0x200B, 0xFEFF})
_FIXED_PITCH, _ITALIC, _FORCE_BOLD = 1 << 0, 1 << 6, 1 << 18  # ISO 32000-1 table 123
_SUBSET = re.compile(r"^[A-Z]{6}\+")
_BOLD_NAME = re.compile(r"bold|black|heavy|cmbx|-bd\b|semibold|demi")
_ITALIC_NAME = re.compile(r"italic|oblique|cmti|-it\b|cmmi")
_MONO_NAME = re.compile(r"courier|mono|consol|cmtt|typewriter|nimbusmon")
_DOUBLE_REACH = 0.12  # em; bold print by drawing twice shifts by 0.02-0.05, "ll" and "ii" stand 0.2 apart


def _fast(function: Any, result: Any, *arguments: Any) -> Any:  # noqa: ANN401 - ctypes
    """The same C function with plain addresses for pointers: three times cheaper to call."""
    return ctypes.CFUNCTYPE(result, *arguments)(ctypes.cast(function, ctypes.c_void_p).value or 0)


_Four = tuple[float, float, float, float]
_Two = tuple[float, float]
_P, _I = ctypes.c_void_p, ctypes.c_int
_unicode = _fast(pdfium.FPDFText_GetUnicode, ctypes.c_uint, _P, _I)
_object = _fast(pdfium.FPDFText_GetTextObject, _P, _P, _I)
_ink = _fast(pdfium.FPDFText_GetCharBox, _I, _P, _I, _P, _P, _P, _P)
_room = _fast(pdfium.FPDFText_GetLooseCharBox, _I, _P, _I, _P)
_origin = _fast(pdfium.FPDFText_GetCharOrigin, _I, _P, _I, _P, _P)
_unmapped = _fast(pdfium.FPDFText_HasUnicodeMapError, _I, _P, _I)


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
            glyphs, counts = _Layer(text_page, to_shown).read()
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


def page_text(glyphs: Sequence[Glyph], counts: Counts, objects: PageObjects, size: PageSize) -> PageText:
    """Lines, health, rulings and images of a page, all as fractions of it.

    Args:
        glyphs: as read, hidden ones not yet marked, doubled ones still there.
        counts: what the reader counted of them.
        objects: what else is drawn, points.
        size: of the page as shown.
    """
    glyphs = with_true_sizes(_on_earth(glyphs, size))
    single = without_doubles(glyphs)
    counts.doubled = len(glyphs) - len(single)
    marked = mark_hidden(single, objects, size)
    counts.invisible = sum(not glyph.style.seen for glyph in marked)
    lines = lines_from(composed(marked), size, objects.rulings)
    images = [fraction(box, size) for box in objects.images]
    return PageText(
        lines=lines,
        health=health_of((glyph.text for glyph in glyphs), counts, lines, images),
        rulings=tuple(
            Ruling(x0 / size.width, y0 / size.height, x1 / size.width, y1 / size.height)
            for x0, y0, x1, y1 in objects.rulings
        ),
        images=tuple(images),
        has_content=objects.drawn or bool(glyphs),
        size=size,
    )


def _on_earth(glyphs: Sequence[Glyph], size: PageSize) -> Sequence[Glyph]:
    """Glyphs without those of broken matrices: at no place at all, or many pages away."""
    if not glyphs:
        return glyphs
    far = 20 * max(size.width, size.height)
    numbers = np.array([(*glyph[1:9], glyph.style.size) for glyph in glyphs])
    near = (np.abs(numbers) < far).all(axis=1)  # false for NaN
    return glyphs if near.all() else [glyph for glyph, kept in zip(glyphs, near.tolist(), strict=True) if kept]


def with_true_sizes(glyphs: Sequence[Glyph]) -> Sequence[Glyph]:
    """Glyphs of Type 3 fonts with the size they are seen at: there the font matrix scales, and the size may be 1."""
    heights: dict[tuple[str, float], list[float]] = {}
    for glyph in glyphs:
        tall = max(glyph.x1 - glyph.x0, glyph.y1 - glyph.y0)
        if tall > 2.5 * glyph.style.size:
            heights.setdefault((glyph.style.font, glyph.style.size), []).append(tall)
    if not heights:
        return glyphs
    all_of = Counter((glyph.style.font, glyph.style.size) for glyph in glyphs)
    # The middle glyph of any text is 0.45-0.75 em high; large brackets and rules are rare in their font.
    true = {key: sorted(tall)[len(tall) // 2] / 0.6 for key, tall in heights.items() if len(tall) * 2 > all_of[key]}
    return [
        glyph._replace(
            style=glyph.style._replace(size=true.get((glyph.style.font, glyph.style.size), glyph.style.size))
        )
        for glyph in glyphs
    ]


def fraction(box: Rect, size: PageSize) -> Box:
    """A box in points as fractions of the page, clipped to it."""
    return Box(box[0] / size.width, box[1] / size.height, box[2] / size.width, box[3] / size.height).clamped()


class _Layer:
    """One walk through the characters of a page."""

    def __init__(self, text_page: Any, to_shown: Affine) -> None:  # noqa: ANN401 - ctypes handle
        self.handle = text_page
        self.page = ctypes.cast(text_page, ctypes.c_void_p).value
        self.to_shown = to_shown
        self.fonts: dict[tuple[str, int], tuple[str, bool, bool, bool]] = {}

    def read(self) -> tuple[list[Glyph], Counts]:
        """All glyphs that are not white space."""
        page = self.page
        count = min(pdfium.FPDFText_CountChars(self.handle), MAX_GLYPHS)
        codes = [_unicode(page, index) for index in range(count)]
        kept = [index for index, code in enumerate(codes) if code not in _BLANKS]
        ink, room, origin = self._places(kept)
        counts = Counts()
        glyphs: list[Glyph] = []
        style, source, before = Style(1.0), -1, -1
        for index, inked, roomy, at in zip(kept, ink, room, origin, strict=True):
            address = _object(page, index) or 0
            if address != source:
                style, source = self._style(index, address), address
            space, broken = SPACE_NONE, False
            if before + 1 != index:
                space, broken = self._gap(codes, before + 1, index)
            before = index
            code = codes[index]
            text = "-" if code in _LINE_END_HYPHENS else character(code)
            # A character without any text counts as unknown already.
            counts.unmapped += text != UNKNOWN and _unmapped(page, index) == 1
            left, right = roomy[0], roomy[2]
            if style.angle:  # the advance runs along the line, not along the page
                right = left + along(style.angle, right - left, roomy[3] - roomy[1], style.size)
            glyphs.append(Glyph(text, *inked, left, right, *at, style, space, broken))
        return glyphs, counts

    def _gap(self, codes: list[int], start: int, end: int) -> tuple[int, bool]:
        """White space between two glyphs: written or guessed by PDFium, and whether a line ends in it."""
        broken = any(code in (0x0A, 0x0D) for code in codes[start:end])
        written = any(
            codes[at] not in (0x0A, 0x0D) and pdfium.FPDFText_IsGenerated(self.handle, at) != 1
            for at in range(start, end)
        )
        return (SPACE_WRITTEN if written else SPACE_GUESSED), broken

    def _places(self, kept: list[int]) -> tuple[list[_Four], list[_Four], list[_Two]]:
        """Ink boxes, advance boxes and origins of the glyphs in points of the page as shown."""
        page, number = self.page, len(kept)
        sharp = np.zeros((number, 6), np.float64)  # left, right, bottom, top; origin x, y
        loose = np.zeros((number, 4), np.float32)  # FS_RECTF: left, top, right, bottom
        at, at_loose = sharp.ctypes.data, loose.ctypes.data
        for index in kept:
            _ink(page, index, at, at + 8, at + 16, at + 24)
            _origin(page, index, at + 32, at + 40)
            _room(page, index, at_loose)
            at += 48
            at_loose += 16
        ink = self._shown(sharp[:, 0], sharp[:, 2], sharp[:, 1], sharp[:, 3])
        room = self._shown(*loose[:, [0, 3, 2, 1]].T.astype(np.float64))
        a, b, c, d, e, f = self.to_shown
        x, y = sharp[:, 4], sharp[:, 5]
        origin = np.stack([a * x + c * y + e, b * x + d * y + f], axis=1)
        return list(map(tuple, ink.tolist())), list(map(tuple, room.tolist())), list(map(tuple, origin.tolist()))

    def _shown(self, left: Any, bottom: Any, right: Any, top: Any) -> "NDArray[np.float64]":  # noqa: ANN401
        """Boxes [N, 4] x0, y0, x1, y1; a rotation by quarter turns keeps upright boxes upright."""
        a, b, c, d, e, f = self.to_shown
        x0, y0 = a * left + c * bottom + e, b * left + d * bottom + f
        x1, y1 = a * right + c * top + e, b * right + d * top + f
        return np.stack([np.minimum(x0, x1), np.minimum(y0, y1), np.maximum(x0, x1), np.maximum(y0, y1)], axis=1)

    def _style(self, index: int, address: int) -> Style:
        pdfium.FPDFText_GetMatrix(self.handle, index, _MATRIX)
        a, b, c, d = _MATRIX.a, _MATRIX.b, _MATRIX.c, _MATRIX.d
        ta, tb, tc, td, _, _ = self.to_shown
        ahead = a * ta + b * tc, a * tb + b * td
        up = c * ta + d * tc, c * tb + d * td
        nominal = pdfium.FPDFText_GetFontSize(self.handle, index)
        size = abs(nominal) * math.hypot(*up)
        turn = 180.0 if nominal < 0 else 0.0  # a negative size turns the letters about
        angle = (math.degrees(math.atan2(ahead[1], ahead[0])) + turn) % 360.0
        thing = ctypes.cast(address, pdfium.FPDF_PAGEOBJECT)
        mode = pdfium.FPDFTextObj_GetTextRenderMode(thing) if address else pdfium.FPDF_TEXTRENDERMODE_FILL
        font, bold, italic, mono = self._font(index)
        bold = bold or mode == pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE  # bold print by an outline
        pale, clear = self._paint(thing, mode) if address else (False, False)
        seen = mode not in INVISIBLE_MODES and not clear
        return Style(size or 1.0, angle, font, bold, italic, mono, seen, address, pale)

    def _paint(self, thing: Any, mode: int) -> tuple[bool, bool]:  # noqa: ANN401 - ctypes handle
        """Whether filled letters are white, and whether they are wholly transparent."""
        if mode != pdfium.FPDF_TEXTRENDERMODE_FILL or not pdfium.FPDFPageObj_GetFillColor(thing, *_COLOUR):
            return False, False
        red, green, blue, alpha = (channel.value for channel in _COLOUR)
        return min(red, green, blue) >= WHITE, alpha == 0

    def _font(self, index: int) -> tuple[str, bool, bool, bool]:
        length = pdfium.FPDFText_GetFontInfo(self.handle, index, _NAME, len(_NAME), _FLAGS)
        name = _NAME.raw[: max(0, min(length, len(_NAME)) - 1)].decode("utf-8", "replace")
        key = (name, _FLAGS.value)
        if key not in self.fonts:
            self.fonts[key] = font_look(*key)
        return self.fonts[key]


# One set of out-parameters for all calls: making ctypes objects costs more than the calls.
_MATRIX = pdfium.FS_MATRIX()
_NAME = ctypes.create_string_buffer(256)
_FLAGS = ctypes.c_int()
_COLOUR = tuple(ctypes.c_uint() for _ in range(4))


def font_look(name: str, flags: int) -> tuple[str, bool, bool, bool]:
    """Name without its subset mark, and whether the font is bold, italic, of fixed pitch.

    Args:
        name: base font name as in the PDF.
        flags: of the font descriptor, ISO 32000-1 table 123. PDFium's font weight is not asked: it guesses it from
            the stem width, and Georgia is not bold.
    """
    plain = _SUBSET.sub("", name)
    low = plain.lower()
    bold = bool(flags & _FORCE_BOLD) or bool(_BOLD_NAME.search(low))
    italic = bool(flags & _ITALIC) or bool(_ITALIC_NAME.search(low))
    # TeX's fonts carry the fixed-pitch flag at random; their names do not lie.
    mono = bool(_MONO_NAME.search(low)) or (bool(flags & _FIXED_PITCH) and not re.match(r"cm|sfrm|lm", low))
    return plain, bold, italic, mono


def without_doubles(glyphs: Sequence[Glyph]) -> Sequence[Glyph]:
    """Glyphs without those drawn a second time within 0.12 em: bold print made by drawing twice."""
    if not _any_double(glyphs):
        return glyphs
    seats: dict[tuple[str, int, int], list[tuple[float, float]]] = {}
    single: list[Glyph] = []
    for glyph in glyphs:
        reach = max(_DOUBLE_REACH * glyph.style.size, 0.01)
        column, row = int(glyph.x // reach), int(glyph.y // reach)
        near = [
            seat
            for across in (column - 1, column, column + 1)
            for down in (row - 1, row, row + 1)
            for seat in seats.get((glyph.text, across, down), ())
        ]
        part = bool(single) and single[-1][1:5] == glyph[1:5] and single[-1].style.source == glyph.style.source
        # Parts of a ligature share one box: "ff" is no double.
        if not part and any(abs(x - glyph.x) < reach and abs(y - glyph.y) < reach for x, y in near):
            continue
        seats.setdefault((glyph.text, column, row), []).append((glyph.x, glyph.y))
        single.append(glyph)
    return single


def _any_double(glyphs: Sequence[Glyph]) -> bool:
    """Whether two equal characters of one size share a cell of one of four shifted grids; on most pages none do."""
    if len(glyphs) < 2:
        return False
    places = np.array([(ord(glyph.text[0]), glyph.style.size, glyph.x, glyph.y, glyph.x0) for glyph in glyphs])
    fresh = np.concatenate([[True], (places[1:, 2:] != places[:-1, 2:]).any(axis=1)])
    code, size, x, y, _ = places[fresh].T
    cell = np.maximum(2 * _DOUBLE_REACH * size, 0.01)
    kind = code.astype(np.int64) * 1_000_003 + (size * 10).astype(np.int64)
    for shift_x, shift_y in ((0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.5, 0.5)):
        column, row = np.floor(x / cell + shift_x).astype(np.int64), np.floor(y / cell + shift_y).astype(np.int64)
        if len(np.unique(kind * 73_856_093 + column * 19_349_663 + row * 83_492_791)) < len(kind):
            return True
    return False


def mark_invisible(glyphs: Sequence[Glyph], unseen: Sequence[Rect]) -> list[Glyph]:
    """Glyphs marked unseen that lie in boxes of invisible text, for libraries that do not tell the rendering mode."""
    if not unseen:
        return list(glyphs)
    return [
        glyph._replace(style=glyph.style._replace(seen=False)) if _inside(glyph, unseen) else glyph for glyph in glyphs
    ]


def _inside(glyph: Glyph, boxes: Sequence[Rect]) -> bool:
    x, y = (glyph.x0 + glyph.x1) / 2, (glyph.y0 + glyph.y1) / 2
    return any(x0 - 1 <= x <= x1 + 1 and y0 - 2 <= y <= y1 + 2 for x0, y0, x1, y1 in boxes)


def mark_hidden(glyphs: Sequence[Glyph], objects: PageObjects, size: PageSize) -> list[Glyph]:
    """Glyphs marked unseen that lie outside the page, under something opaque painted later, or white on white."""
    sight = _Sight(objects)
    marked: list[Glyph] = []
    for glyph in glyphs:
        seen = glyph.style.seen
        if seen:
            x, y = (glyph.x0 + glyph.x1) / 2, (glyph.y0 + glyph.y1) / 2
            seen = -1 <= x <= size.width + 1 and -1 <= y <= size.height + 1 and not sight.hides(glyph.style, x, y)
        marked.append(glyph if seen == glyph.style.seen else glyph._replace(style=glyph.style._replace(seen=seen)))
    return marked


class _Sight:
    """What is painted over and under text objects; asked once for each of them."""

    def __init__(self, objects: PageObjects) -> None:
        self._order = objects.order
        self._covers = np.array([(*box, order) for box, order in objects.covers], float).reshape(-1, 5)
        self._grounds = np.array([(*box, order) for box, order in objects.grounds], float).reshape(-1, 5)
        self._known: dict[int, bool] = {}

    def hides(self, style: Style, x: float, y: float) -> bool:
        """Whether the text object that has a glyph here cannot be seen."""
        order = self._order.get(style.source, -1)
        if order < 0 or not (len(self._covers) or style.pale):
            return False
        if style.source not in self._known:
            covered = bool((_around(self._covers, x, y) & (self._covers[:, 4] > order)).any())
            bare = style.pale and not (_around(self._grounds, x, y) & (self._grounds[:, 4] < order)).any()
            self._known[style.source] = covered or bool(bare)
        return self._known[style.source]


def _around(boxes: "NDArray[np.float64]", x: float, y: float) -> "NDArray[np.bool_]":
    return (boxes[:, 0] < x) & (x < boxes[:, 2]) & (boxes[:, 1] < y) & (y < boxes[:, 3])
