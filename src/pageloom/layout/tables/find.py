"""The tables of a page: rules first, then what the layout model and the text itself propose."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pageloom import weights
from pageloom.layout.page import LayoutPage
from pageloom.layout.tables.again import Again
from pageloom.layout.tables.build import FoundTable, built
from pageloom.layout.tables.filled import Filled
from pageloom.layout.tables.frame import Frame, Piece, Rect
from pageloom.layout.tables.headers import flag_headers
from pageloom.layout.tables.propose import SHORT, Proposal, columned, proposals
from pageloom.layout.tables.region import Region, read
from pageloom.layout.tables.ruled import ruled, verdict
from pageloom.layout.tables.sideways import turned_view
from pageloom.layout.tables.sight import Sight
from pageloom.layout.tables.slanet import Slanet
from pageloom.layout.tables.text import visual_rows
from pageloom.model.geometry import Box

REGION_SCORE = 0.3  # of a layout model's box that is looked at
REGION_ALONE = 0.55  # of one that is believed although its text shows no clear columns


class TableTools:
    """What table finding keeps between pages: the structure model, loaded when it is first needed.

    Args:
        models_folder: where the model files are; None = the user's data folder.
    """

    def __init__(self, models_folder: Path | None = None) -> None:
        self._folder = models_folder
        self._model: Slanet | None = None
        self._seen: tuple[LayoutPage, Sight] | None = None

    def sight(self, page: LayoutPage) -> Sight:
        """What is seen of a page; kept until the next one, since tables and forms both ask."""
        if self._seen is None or self._seen[0] is not page:
            self._seen = (page, Sight.of(page))
        return self._seen[1]

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
        groups: line indices of each box, boxes in reading order, row by row.
        rows: row of each box.
    """

    box: Box
    groups: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """Tables and forms of a page, each top first."""

    tables: tuple[FoundTable, ...]
    forms: tuple[FoundForm, ...]


def find_tables(page: LayoutPage, regions: Sequence[tuple[Box, float]], tools: TableTools) -> list[FoundTable]:
    """Tables of a page, top first.

    Args:
        page: its lines, and its pixels or rulings.
        regions: table boxes proposed by a layout model with their scores; may be empty, wrong or incomplete.
        tools: models; kept by the caller from page to page.
    """
    return list(study(page, regions, tools).tables)


def find_forms(page: LayoutPage, tools: TableTools | None = None) -> list[FoundForm]:
    """Drawn boxes of a page that are no table, top first.

    Args:
        page: its lines, and its pixels or rulings.
        tools: the same as for `find_tables`, so that the page's lines are searched once.
    """
    sight = (tools or TableTools()).sight(page)
    return [_form(filled, sight.frame) for filled, kind in _grids(sight, page) if kind == "form"]


def study(page: LayoutPage, regions: Sequence[tuple[Box, float]], tools: TableTools) -> Findings:
    """Tables and forms of a page in one go (see `find_tables`); also tables printed sideways."""
    view = turned_view(page)
    if view is None:
        return _upright(page, regions, tools)
    sideways = [view.back(found) for found in _upright(view.page, (), tools).tables]
    if not sideways:
        return _upright(page, regions, tools)
    apart = [(b, s) for b, s in regions if not any(b.intersection(t.box) > 0.3 * b.area for t in sideways)]
    found = _upright(page, apart, tools)
    others = [t for t in found.tables if not any(t.box.intersection(s.box) > 0.3 * t.box.area for s in sideways)]
    return Findings(tuple(sorted([*others, *sideways], key=lambda t: (t.box.y0, t.box.x0))), found.forms)


def _upright(page: LayoutPage, regions: Sequence[tuple[Box, float]], tools: TableTools) -> Findings:
    """Tables and forms among the lines as they lie."""
    sight = tools.sight(page)
    grids = _grids(sight, page)
    tables = [f for f, kind in grids if kind == "table"]
    forms = [f for f, kind in grids if kind == "form"]
    unruled = [f.rect for f, kind in grids if kind == "unruled"]
    for region in _regions(sight, regions, unruled, [f.rect for f in tables]):
        filled = read(page, region, tools.model)
        if filled is not None:
            tables.append(filled)
    bold = [line.bold for line in page.lines]
    for filled in tables:
        flag_headers(filled, bold)
    tables.sort(key=lambda f: (f.rect.y0, f.rect.x0))
    forms = [f for f in forms if not any(f.rect.intersection(t.rect) > 0.3 * f.rect.area for t in tables)]
    return Findings(tuple(built(f, page, sight.frame) for f in tables), tuple(_form(f, sight.frame) for f in forms))


def _grids(sight: Sight, page: LayoutPage) -> list[tuple[Filled, str]]:
    """Drawn grids with their verdicts, without those inside a larger one."""
    again = Again(page, sight.frame)
    found: list[tuple[Filled, str]] = []
    for filled in ruled(sight.segments, sight.pieces, again, sight.height):
        kind = verdict(filled, sight.height)
        inside = any(filled.rect.intersection(f.rect) > 0.5 * filled.rect.area for f, _ in found)
        if kind != "none" and not inside:
            found.append((filled, kind))
    return sorted(found, key=lambda pair: pair[0].rect.y0)


def _regions(
    sight: Sight, regions: Sequence[tuple[Box, float]], unruled: Sequence[Rect], taken: Sequence[Rect]
) -> list[Region]:
    """Places to be read as a table without a drawn grid: own proposals and the layout model's."""
    own = [p for p in proposals(sight.parts, sight.fine, sight.segments, sight.height) if not _met(p.rect, taken)]
    told = [(sight.frame.rect(b), s) for b, s in regions if s >= REGION_SCORE]
    told = [(r, s) for r, s in told if not _met(r, taken)]
    found = [(r, False) for r in unruled if not _met(r, taken)]
    for proposal in own:
        if proposal.alone or _met(proposal.rect, [r for r, _ in told]):
            found.append((_with_told(proposal, [r for r, _ in told]), proposal.strong))
    for rect, score in told:
        if not _met(rect, [r for r, _ in found]) and _believed(sight, rect, score):
            found.append((rect, False))
    return [_region(sight, rect, fine=strong) for rect, strong in _apart(found)]


def _met(rect: Rect, others: Sequence[Rect]) -> bool:
    return any(rect.intersection(o) > 0.3 * min(rect.area, o.area) for o in others)


def _with_told(proposal: Proposal, told: Sequence[Rect]) -> Rect:
    """A proposal widened by the layout model's box where that agrees; rules bound a table better than a model."""
    if proposal.strong:
        return proposal.rect
    return Rect.around([proposal.rect, *(r for r in told if _met(proposal.rect, [r]))])


def _believed(sight: Sight, rect: Rect, score: float) -> bool:
    """Whether a box of the layout model without an own proposal is a table: its text keeps to columns."""
    rows = visual_rows([p for p in sight.parts if rect.holds(*p.rect.center)])
    columns = columned(rows, sight.height)
    several = sum(len(row) >= 2 for row in rows) >= 0.5 * len(rows) > 0
    short = sum(len(p.text) <= SHORT for row in rows for p in row) >= 0.7 * sum(len(row) for row in rows)
    return columns.count >= 2 or (score >= REGION_ALONE and several and short)


def _apart(rects: Sequence[tuple[Rect, bool]]) -> list[tuple[Rect, bool]]:
    """Of rectangles that overlap the largest."""
    found: list[tuple[Rect, bool]] = []
    for rect, strong in sorted(rects, key=lambda pair: -pair[0].area):
        if not _met(rect, [r for r, _ in found]):
            found.append((rect, strong))
    return found


def _region(sight: Sight, rect: Rect, *, fine: bool) -> Region:
    coarse = [p for p in sight.parts if rect.holds(*p.rect.center)]
    narrow = [p for p in sight.fine if rect.holds(*p.rect.center)]
    inside = narrow if fine or _finer(coarse, narrow, sight.height) else coarse
    around = Rect.around([rect, *(p.rect for p in inside)])
    lines = [s for s in sight.segments if around.holds(*s.rect.center, slack=sight.height)]
    return Region(around, inside, lines, sight.height)


def _finer(coarse: Sequence[Piece], narrow: Sequence[Piece], height: float) -> bool:
    """Whether cutting at narrow gaps shows more columns, and full ones."""
    cut = columned(visual_rows(narrow), height)
    return cut.filled >= 0.6 and cut.count > columned(visual_rows(coarse), height).count


def _form(filled: Filled, frame: Frame) -> FoundForm:
    places = sorted(filled.written(), key=lambda p: (p.row, p.column))
    groups = tuple(tuple(dict.fromkeys(p.line for row in visual_rows(q.pieces) for p in row)) for q in places)
    return FoundForm(frame.box(filled.rect), groups, tuple(p.row for p in places))
