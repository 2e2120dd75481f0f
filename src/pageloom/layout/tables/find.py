"""The tables of a page: rules first, then the regions the layout model proposes."""

from collections.abc import Sequence
from dataclasses import dataclass

from pathlib import Path

from pageloom import weights
from pageloom.layout.page import LayoutPage
from pageloom.layout.tables.build import FoundTable, built
from pageloom.layout.tables.filled import Filled
from pageloom.layout.tables.frame import Frame, Rect, text_height
from pageloom.layout.tables.region import modelled
from pageloom.layout.tables.ruled import ruled, verdict
from pageloom.layout.tables.rulings import segments
from pageloom.layout.tables.slanet import Slanet
from pageloom.layout.tables.text import visual_rows
from pageloom.model.geometry import Box


class TableTools:
    """What table finding keeps between pages: the structure model, loaded when it is first needed.

    Args:
        models_folder: where the model files are; None = the user's data folder.
    """

    def __init__(self, models_folder: Path | None = None) -> None:
        self._folder = models_folder
        self._model: Slanet | None = None

    def model(self) -> Slanet:
        """The structure model.

        Raises:
            ModelsMissing: its file is not on this machine.
        """
        if self._model is None:
            self._model = Slanet(weights.path("slanet_plus", self._folder))
        return self._model


@dataclass(frozen=True, slots=True)
class FoundForm:
    """Drawn boxes with text that are no table (label and value, blocks side by side).

    Attributes:
        groups: line indices of each box, boxes in reading order.
    """

    box: Box
    groups: tuple[tuple[int, ...], ...]


def find_tables(page: LayoutPage, regions: Sequence[tuple[Box, float]], tools: TableTools) -> list[FoundTable]:
    """Tables of a page, top first.

    Args:
        regions: table boxes proposed by a layout model with their scores; may be empty, wrong or incomplete.
        tools: models; kept by the caller from page to page.
    """
    frame = Frame.of(page)
    grids = _grids(page, frame)
    found = [filled for filled, kind in grids if kind == "table"]
    pieces = [frame.piece(line, n) for n, line in enumerate(page.lines) if line.text.strip()]
    height = text_height(pieces)
    for box, _score in regions:
        rect = frame.rect(box)
        if any(f.rect.intersection(rect) > 0.3 * min(f.rect.area, rect.area) for f in found):
            continue
        inside = [p for p in pieces if p.rect.intersection(rect) > 0.5 * p.rect.area]
        filled = modelled(page, rect, inside, tools.model(), height) if len(inside) > 3 else None
        if filled is not None:
            found.append(filled)
    return [built(filled, page, frame) for filled in sorted(found, key=lambda f: f.rect.y0)]


def find_forms(page: LayoutPage) -> list[FoundForm]:
    """Drawn boxes that are no table, top first."""
    frame = Frame.of(page)
    found = []
    for filled, kind in _grids(page, frame):
        if kind == "form":
            places = sorted(filled.written(), key=lambda p: (p.row, p.column))
            groups = tuple(
                tuple(dict.fromkeys(p.line for row in visual_rows(place.pieces) for p in row)) for place in places
            )
            found.append(FoundForm(frame.box(filled.rect), groups))
    return found


def _grids(page: LayoutPage, frame: Frame) -> list[tuple[Filled, str]]:
    pieces = [frame.piece(line, n) for n, line in enumerate(page.lines) if line.text.strip()]
    height = text_height(pieces)
    found: list[tuple[Filled, str]] = []
    taken: list[Rect] = []
    for filled in ruled(segments(page, frame, pieces), pieces, frame, height):
        kind = verdict(filled, height)
        if kind == "none" or any(filled.rect.intersection(t) > 0.5 * filled.rect.area for t in taken):
            continue
        taken.append(filled.rect)
        found.append((filled, kind))
    return sorted(found, key=lambda pair: pair[0].rect.y0)
