"""A table without drawn cells: the structure model's answer for one region of the page."""

from collections.abc import Sequence
from dataclasses import replace

from pageloom.layout.page import LayoutPage
from pageloom.layout.tables.filled import Filled
from pageloom.layout.tables.frame import Frame, Piece, Rect
from pageloom.layout.tables.match import matched
from pageloom.layout.tables.slanet import Slanet, Structure

MARGIN_PX = 4  # the model saw tables with a narrow border around them


def modelled(page: LayoutPage, rect: Rect, pieces: Sequence[Piece], model: Slanet, height: float) -> Filled | None:
    """The table in a region as the model sees it, or None when it sees none."""
    if page.image is None:
        return None
    frame = Frame.of(page)
    x0, y0 = max(0, int(rect.x0) - MARGIN_PX), max(0, int(rect.y0) - MARGIN_PX)
    x1, y1 = min(int(frame.width), int(rect.x1) + MARGIN_PX), min(int(frame.height), int(rect.y1) + MARGIN_PX)
    if x1 - x0 < 16 or y1 - y0 < 16:
        return None
    structure = model.read(page.image.rgb[y0:y1, x0:x1])
    if structure is None:
        return None
    return matched(_moved(structure, x0, y0), pieces, rect, frame, height)


def _moved(structure: Structure, dx: float, dy: float) -> Structure:
    cells = tuple(
        replace(c, rect=Rect(c.rect.x0 + dx, c.rect.y0 + dy, c.rect.x1 + dx, c.rect.y1 + dy)) for c in structure.cells
    )
    return replace(structure, cells=cells)
