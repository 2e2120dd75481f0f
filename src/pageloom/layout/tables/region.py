"""A table without drawn cells: the structure model's answer for a region, checked against the alignment of its text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pageloom.errors import ModelsMissing
from pageloom.layout.page import LayoutPage
from pageloom.layout.tables.aligned import aligned
from pageloom.layout.tables.filled import Filled, conflicts, whole
from pageloom.layout.tables.frame import Frame, Piece, Rect
from pageloom.layout.tables.match import matched
from pageloom.layout.tables.rulings import Segment
from pageloom.layout.tables.slanet import Slanet, Structure
from pageloom.layout.tables.text import visual_rows

MARGIN_PX = 4  # the model saw tables with a narrow border around them
TOKENS = 480  # the model writes at most about 500; a row costs its cells and two tokens for itself

SENTENCE = 60  # letters; most entries of a table are shorter
FULL = 0.55  # share of written cells of a grid that only alignment shows
SPARSEST = 0.35  # share of written cells below which words only happen to stand below each other


@dataclass(frozen=True, slots=True)
class Region:
    """A place to be read as a table.

    Attributes:
        rect: px.
        pieces: text in it, cut at wide gaps.
        segments: straight lines in it.
        height: of a text line, px.
    """

    rect: Rect
    pieces: Sequence[Piece]
    segments: Sequence[Segment]
    height: float


def read(page: LayoutPage, region: Region, model: Callable[[], Slanet]) -> Filled | None:
    """The table in a region, or None when its text is no table.

    The model's answer is taken when it is sane (whole, even, nothing side by side in one cell), else the better of it
    and the grid from alignment.
    """
    if len(region.pieces) < 4:
        return None
    grid = aligned(region.pieces, region.segments, region.rect, region.height)
    seen = _modelled(page, region, model, grid)
    if seen is None and grid is not None and page.image is not None:
        best = grid if len(grid.written()) >= FULL * len(grid.places) else None
    elif seen is None or grid is None:
        best = seen or grid
    else:
        best = seen if _sane(seen, region) >= min(0.97, _sane(grid, region)) else grid
    return best if best is not None and _dense(best) else None


def _dense(filled: Filled) -> bool:
    """Whether enough cells are written, and with entries: scattered words and columns of text are no table."""
    texts = [sum(len(p.text) for p in place.pieces) for place in filled.written()]
    if sum(length > SENTENCE for length in texts) > 0.4 * len(texts):
        return False  # columns of running text
    return len(filled.written()) >= SPARSEST * len(filled.places) and filled.rows >= 2 and filled.columns >= 2


def _sane(filled: Filled, region: Region) -> float:
    """Share of the pieces that sit well, lowered for a broken or shaky structure, 0-1."""
    fine = 1 - conflicts(filled, region.height) / max(1, len(region.pieces))
    return fine * (1.0 if whole(filled) else 0.7) * min(1.0, filled.sure + 0.1)


def _modelled(page: LayoutPage, region: Region, model: Callable[[], Slanet], grid: Filled | None) -> Filled | None:
    if page.image is None:
        return None
    try:
        slanet = model()
    except ModelsMissing:
        return None  # the block says which way it was made; `pageloom doctor` names the missing file
    bands = _bands(region, grid)
    answers = [_answer(page, slanet, band) for band in bands]
    if any(a is None for a in answers):
        return None
    structure = _stacked([a for a in answers if a is not None])
    if structure is None:
        return None
    frame = Frame.of(page)
    return matched(structure, region.pieces, region.rect, frame, region.height)


def _bands(region: Region, grid: Filled | None) -> list[Rect]:
    """The region, cut between rows of text into parts that the model can write in full."""
    rows = visual_rows(region.pieces)
    columns = grid.columns if grid is not None else max(len(row) for row in rows)
    # Rows with a single entry are mostly wrapped labels, which the model joins to one row.
    count = max(sum(len(row) >= 2 for row in rows), len(rows) // 2)
    parts = -(-count * (columns + 2) // TOKENS)
    if parts <= 1:
        return [region.rect]
    borders = [region.rect.y0]
    for n in range(1, parts):
        at = round(n * len(rows) / parts)
        above, below = max(p.rect.y1 for p in rows[at - 1]), min(p.rect.y0 for p in rows[at])
        borders.append((above + below) / 2)
    borders.append(region.rect.y1)
    return [Rect(region.rect.x0, a, region.rect.x1, b) for a, b in pairwise(borders)]


def _answer(page: LayoutPage, slanet: Slanet, rect: Rect) -> Structure | None:
    """The model's answer for one rectangle, its boxes moved to the page."""
    if page.image is None:
        return None
    height, width = page.image.rgb.shape[:2]
    x0, y0 = max(0, int(rect.x0) - MARGIN_PX), max(0, int(rect.y0) - MARGIN_PX)
    x1, y1 = min(width, int(rect.x1) + MARGIN_PX), min(height, int(rect.y1) + MARGIN_PX)
    if x1 - x0 < 16 or y1 - y0 < 16:
        return None
    structure = slanet.read(page.image.rgb[y0:y1, x0:x1])
    if structure is None or not structure.complete:
        return None
    cells = tuple(
        replace(c, rect=Rect(c.rect.x0 + x0, c.rect.y0 + y0, c.rect.x1 + x0, c.rect.y1 + y0)) for c in structure.cells
    )
    return replace(structure, cells=cells)


def _stacked(parts: Sequence[Structure]) -> Structure | None:
    """Bands of one table below each other; None when they disagree about the columns."""
    if len({part.columns for part in parts}) != 1:
        return None
    cells, rows = [], 0
    for n, part in enumerate(parts):
        cells += [replace(c, row=c.row + rows, header=c.header and n == 0) for c in part.cells]
        rows += part.rows
    mean = sum(part.probability for part in parts) / len(parts)
    return Structure(rows, parts[0].columns, tuple(cells), mean, complete=True, even=all(part.even for part in parts))
