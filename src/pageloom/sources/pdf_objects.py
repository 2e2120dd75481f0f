"""What is drawn on a PDF page besides glyphs: images, filled areas, straight lines; through PDFium's object list."""

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

MAX_OBJECTS = 60_000  # a map has some 100,000; what lies beyond is drawn, but gives no rulings
MAX_SEGMENTS = 60_000
MAX_FORM_DEPTH = 8
MAX_CLIPS, MAX_CLIP_SEGMENTS = 6, 200
THIN_PT = 2.5  # a filled bar no thicker than this is a line
WHITE = 245  # of 255: paler paint leaves no mark on white paper
SHORT_PT = 6.0  # strokes of letters drawn as paths are shorter than any table line
INVISIBLE_MODES = frozenset({pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP})

Affine = tuple[float, float, float, float, float, float]
"""a, b, c, d, e, f of x' = a*x + c*y + e, y' = b*x + d*y + f, as in a PDF `cm` operator."""
Rect = tuple[float, float, float, float]
"""x0, y0, x1, y1 in points of the page as shown, y down."""

IDENTITY: Affine = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class PageObjects:
    """Objects of one page, in the order they are painted.

    Attributes:
        order: painting order of a text object, by its address.
        images: image boxes.
        covers: opaque images and filled rectangles, with their painting order: they hide what was painted before.
        grounds: images and filled areas that are not white, with their painting order: white text shows on them.
        unseen: boxes of text objects that are drawn invisibly.
        rulings: straight lines, horizontal (y0 == y1) or vertical (x0 == x1).
        drawn: whether anything is painted that could be seen.
    """

    order: dict[int, int] = field(default_factory=dict)
    images: list[Rect] = field(default_factory=list)
    covers: list[tuple[Rect, int]] = field(default_factory=list)
    grounds: list[tuple[Rect, int]] = field(default_factory=list)
    unseen: list[Rect] = field(default_factory=list)
    rulings: list[Rect] = field(default_factory=list)
    drawn: bool = False


def multiply(inner: Affine, outer: Affine) -> Affine:
    """The map that applies `inner` first, then `outer`."""
    a, b, c, d, e, f = inner
    oa, ob, oc, od, oe, of = outer
    return (
        a * oa + b * oc,
        a * ob + b * od,
        c * oa + d * oc,
        c * ob + d * od,
        e * oa + f * oc + oe,
        e * ob + f * od + of,
    )


def mapped(affine: Affine, x: float, y: float) -> tuple[float, float]:
    """One point, mapped."""
    a, b, c, d, e, f = affine
    return a * x + c * y + e, b * x + d * y + f


def mapped_rect(affine: Affine, left: float, bottom: float, right: float, top: float) -> Rect:
    """The upright box around a mapped rectangle."""
    corners = [mapped(affine, x, y) for x in (left, right) for y in (bottom, top)]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def read_objects(page: Any, to_shown: Affine) -> PageObjects:  # noqa: ANN401 - ctypes handle
    """Walk the objects of a page.

    Args:
        page: FPDF_PAGE.
        to_shown: from PDF user space to points of the page as shown.
    """
    found = PageObjects()
    left_segments = MAX_SEGMENTS
    for order, (thing, affine) in enumerate(_walk(page, to_shown)):
        kind = pdfium.FPDFPageObj_GetType(thing)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            _text(thing, affine, order, found)
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            left_segments -= _path(thing, affine, order, found) if left_segments > 0 else 0
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            _image(thing, affine, order, found)
        elif kind == pdfium.FPDF_PAGEOBJ_SHADING:
            found.drawn = True
            found.grounds.extend([(box, order)] if (box := _bounds(thing, affine)) else [])
    return found


def _walk(page: Any, to_shown: Affine) -> Iterator[tuple[Any, Affine]]:  # noqa: ANN401 - ctypes handle
    """Objects in painting order, those of form XObjects in place, each with its map to the page as shown."""
    left = MAX_OBJECTS

    def inside(count: int, get: Any, holder: Any, affine: Affine, depth: int) -> Iterator[tuple[Any, Affine]]:  # noqa: ANN401
        nonlocal left
        for index in range(count):
            if left <= 0:
                return
            thing = get(holder, index)
            if not thing:
                continue
            left -= 1
            if pdfium.FPDFPageObj_GetType(thing) != pdfium.FPDF_PAGEOBJ_FORM:
                yield thing, affine
            elif depth < MAX_FORM_DEPTH:
                inner = multiply(_matrix(thing), affine)
                number = pdfium.FPDFFormObj_CountObjects(thing)
                yield from inside(number, pdfium.FPDFFormObj_GetObject, thing, inner, depth + 1)

    yield from inside(pdfium.FPDFPage_CountObjects(page), pdfium.FPDFPage_GetObject, page, to_shown, 0)


def _matrix(thing: Any) -> Affine:  # noqa: ANN401 - ctypes handle
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(thing, ctypes.byref(matrix)):
        return IDENTITY
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _bounds(thing: Any, affine: Affine) -> Rect | None:  # noqa: ANN401 - ctypes handle
    sides = [ctypes.c_float() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetBounds(thing, *sides):
        return None
    left, bottom, right, top = (side.value for side in sides)
    if not all(map(math.isfinite, (left, bottom, right, top))):
        return None
    return mapped_rect(affine, left, bottom, right, top)


def _text(thing: Any, affine: Affine, order: int, found: PageObjects) -> None:  # noqa: ANN401 - ctypes handle
    found.order[ctypes.addressof(thing.contents)] = order
    found.drawn = True
    if pdfium.FPDFTextObj_GetTextRenderMode(thing) in INVISIBLE_MODES and (box := _bounds(thing, affine)):
        found.unseen.append(box)


def _image(thing: Any, affine: Affine, order: int, found: PageObjects) -> None:  # noqa: ANN401 - ctypes handle
    box = _bounds(thing, affine)
    if box is None:
        return
    found.drawn = True
    found.images.append(box)
    found.grounds.append((box, order))
    if not pdfium.FPDFPageObj_HasTransparency(thing):
        _cover(thing, affine, box, order, found)


def _path(thing: Any, affine: Affine, order: int, found: PageObjects) -> int:  # noqa: ANN401 - ctypes handle
    """Take in one path; returns how many of its segments were looked at."""
    mode, stroked = ctypes.c_int(), ctypes.c_int()
    box = _bounds(thing, affine)
    if box is None or not pdfium.FPDFPath_GetDrawMode(thing, ctypes.byref(mode), ctypes.byref(stroked)):
        return 0
    painted = mode.value != pdfium.FPDF_FILLMODE_NONE
    filled = painted and _visible(thing, pdfium.FPDFPageObj_GetFillColor)
    lined = bool(stroked.value) and _visible(thing, pdfium.FPDFPageObj_GetStrokeColor)
    width, height = box[2] - box[0], box[3] - box[1]
    if painted and min(width, height) > THIN_PT:
        _area(thing, affine, box, order, found)
        found.grounds.extend([(box, order)] if filled else [])
    if not filled and not lined:
        return 0
    found.drawn = True
    if lined and min(width, height) > THIN_PT:  # a line of 15 points is how some writers fill a table's head
        found.grounds.append((box, order))
    if max(width, height) < SHORT_PT:
        return 0
    if min(width, height) <= THIN_PT:
        found.rulings.append(_thin(box))
        return 0
    segments = pdfium.FPDFPath_CountSegments(thing)
    if filled and not lined and segments > 6:  # a filled shape with more corners than a bar is a drawing
        return 0
    found.rulings.extend(_straight(thing, affine, min(segments, MAX_SEGMENTS)))
    return int(segments)


def _area(thing: Any, affine: Affine, box: Rect, order: int, found: PageObjects) -> None:  # noqa: ANN401
    """A filled area; a rectangle hides what lies under it."""
    segments = pdfium.FPDFPath_CountSegments(thing)
    if not 4 <= segments <= 6 or pdfium.FPDFPageObj_HasTransparency(thing):
        return
    matrix = multiply(_matrix(thing), affine)
    points = list(_points(thing, matrix, segments))
    corners = {(round(x), round(y)) for x, y, _ in points}
    starts = sum(pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_MOVETO for _, _, segment in points)
    if starts == 1 and len(corners) == 4 and len({x for x, _ in corners}) == len({y for _, y in corners}) == 2:
        _cover(thing, affine, box, order, found)


def _cover(thing: Any, affine: Affine, box: Rect, order: int, found: PageObjects) -> None:  # noqa: ANN401
    """Note what an opaque object hides: the part of its box inside the boxes of its clipping paths."""
    clip = pdfium.FPDFPageObj_GetClipPath(thing)
    x0, y0, x1, y1 = box
    for path in range(min(max(0, pdfium.FPDFClipPath_CountPaths(clip)) if clip else 0, MAX_CLIPS)):
        count = min(pdfium.FPDFClipPath_CountPathSegments(clip, path), MAX_CLIP_SEGMENTS)
        segments = (pdfium.FPDFClipPath_GetPathSegment(clip, path, index) for index in range(count))
        places = [mapped(affine, *point) for segment in segments if (point := _point(segment)) is not None]
        if places:
            xs, ys = [x for x, _ in places], [y for _, y in places]
            x0, y0, x1, y1 = max(x0, min(xs)), max(y0, min(ys)), min(x1, max(xs)), min(y1, max(ys))
    if x0 < x1 and y0 < y1:
        found.covers.append(((x0, y0, x1, y1), order))


def _thin(box: Rect) -> Rect:
    x0, y0, x1, y1 = box
    if x1 - x0 >= y1 - y0:
        middle = (y0 + y1) / 2
        return x0, middle, x1, middle
    middle = (x0 + x1) / 2
    return middle, y0, middle, y1


def _straight(thing: Any, affine: Affine, segments: int) -> Iterator[Rect]:  # noqa: ANN401 - ctypes handle
    """Horizontal and vertical strokes of a path, the closing one included."""
    start = last = (0.0, 0.0)
    for x, y, segment in _points(thing, multiply(_matrix(thing), affine), segments):
        point = x, y
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield from _upright(last, point)
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield from _upright(point, start)
        last = point


def _points(thing: Any, matrix: Affine, segments: int) -> Iterator[tuple[float, float, Any]]:  # noqa: ANN401
    """End points of a path's segments, mapped, each with its segment."""
    for index in range(segments):
        segment = pdfium.FPDFPath_GetPathSegment(thing, index)
        point = _point(segment)
        if point is not None:
            yield *mapped(matrix, *point), segment


def _point(segment: Any) -> tuple[float, float] | None:  # noqa: ANN401 - ctypes handle
    x, y = ctypes.c_float(), ctypes.c_float()
    if not segment or not pdfium.FPDFPathSegment_GetPoint(segment, x, y):
        return None
    return (x.value, y.value) if math.isfinite(x.value) and math.isfinite(y.value) else None


def _upright(one: tuple[float, float], other: tuple[float, float]) -> Iterator[Rect]:
    width, height = abs(other[0] - one[0]), abs(other[1] - one[1])
    if max(width, height) < SHORT_PT or min(width, height) > 0.5:
        return
    x0, x1 = sorted((one[0], other[0]))
    y0, y1 = sorted((one[1], other[1]))
    yield _thin((x0, y0, x1, y1))


def _visible(thing: Any, read: Any) -> bool:  # noqa: ANN401 - ctypes handle and function
    """Whether a fill or stroke leaves a mark on white paper; True where the colour is a pattern."""
    channels = [ctypes.c_uint() for _ in range(4)]
    if not read(thing, *channels):
        return True
    red, green, blue, alpha = (channel.value for channel in channels)
    return alpha > 12 and min(red, green, blue) < WHITE
