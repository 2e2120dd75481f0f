"""Lines of one page become blocks in reading order."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pageloom.layout.build import built
from pageloom.layout.captions import adopt
from pageloom.layout.continued import join_columns
from pageloom.layout.drafts import Draft
from pageloom.layout.formulas import formula_runs
from pageloom.layout.fractions import stack_fractions
from pageloom.layout.furniture import Seen, split_furniture
from pageloom.layout.initials import join_initials
from pageloom.layout.islands import find_islands, stamps
from pageloom.layout.kinds import Setting, name_kinds, whole_programs
from pageloom.layout.order import Cutting, Thing, columns, in_rows, uprights_of
from pageloom.layout.page import LayoutPage
from pageloom.layout.pieces import Island, Piece, common_em, frame_of, is_rtl, measure
from pageloom.layout.regions import RegionModel
from pageloom.layout.rows import column_of, paragraphs, program_runs, rows_of
from pageloom.layout.sideways import margin_notes
from pageloom.layout.tables import TableTools
from pageloom.model.blocks import Block
from pageloom.model.image import Ruling

Mode = Literal["model", "rules"]
LONG_LINE = 4.0  # heights of a text line; shorter strokes of a scan are parts of letters and underlines


@dataclass(frozen=True, slots=True)
class LayoutTools:
    """What composing needs and loads once: the layout model (mode "model" only) and the table tools."""

    mode: Mode
    regions: RegionModel | None
    tables: TableTools

    @classmethod
    def load(cls, models_folder: Path | None, mode: Mode) -> "LayoutTools":
        """Load what a mode needs.

        Args:
            models_folder: where model files are; None = the user's data folder.
            mode: "model" finds regions with layout_cdla, "rules" by geometry only.

        Raises:
            ModelsMissing: mode "model" without the model files.
        """
        regions = RegionModel.load(models_folder) if mode == "model" else None
        return cls(mode, regions, TableTools(models_folder))


def compose(page: LayoutPage, tools: LayoutTools) -> tuple[Block, ...]:
    """The page's blocks in reading order, with provisional ids; every line with text is in exactly one block."""
    frame = frame_of(page)
    pieces = measure(page, frame)
    seen = tools.regions.find(page.image.rgb) if tools.regions is not None and page.image is not None else ()
    sealed = stamps(page, frame, pieces)
    found = find_islands(page, frame, sealed.rest, seen, tools.tables)
    if not pieces:
        return built(page, [Draft(kind=island.kind, island=island) for island in [*found.islands, *sealed.islands]])
    drawn = _drawn_lines(page, tools.tables)
    furnished = split_furniture(pieces, found.rest, frame, Seen(seen, drawn))
    exact = page.basis == "text-layer"
    setting = Setting(frame, common_em(pieces), exact, seen)
    how = Cutting(
        common_em(found.rest or pieces),
        uprights_of(drawn, frame.width, frame.height),
        is_rtl("".join(piece.text for piece in pieces)),
    )
    flat = join_initials([piece for piece in furnished.rest if piece.flat])
    flat = stack_fractions(flat, exact=exact)
    body = _flow([*flat, *found.islands], how, exact=exact)
    name_kinds(body, setting)
    adopt(body)
    body = join_columns(whole_programs(body))
    heads = [Draft([row], kind=kind) for kind, row in furnished.heads]
    feet = [Draft([row], kind=kind) for kind, row in furnished.feet]
    aside = margin_notes([piece for piece in furnished.rest if not piece.flat], frame)
    return built(page, [*heads, *_stamped(body, sealed.islands), *aside, *feet])


def _drawn_lines(page: LayoutPage, tables: TableTools) -> tuple[Ruling, ...]:
    """Straight lines of a page: the PDF's own, else the long ones among its pixels, put upright."""
    if page.rulings or page.image is None:
        return page.rulings
    sight = tables.sight(page)
    lines = []
    for segment in sight.segments:
        if segment.length > LONG_LINE * sight.height:
            x = (segment.x0 + segment.x1) / 2 / sight.frame.width
            y = (segment.y0 + segment.y1) / 2 / sight.frame.height
            if segment.flat:
                lines.append(Ruling(segment.x0 / sight.frame.width, y, segment.x1 / sight.frame.width, y))
            else:
                lines.append(Ruling(x, segment.y0 / sight.frame.height, x, segment.y1 / sight.frame.height))
    return tuple(lines)


def _stamped(body: list[Draft], seals: Sequence[Island]) -> list[Draft]:
    """Seals put after the block they lie on, or the last one above them."""
    drafts = list(body)
    for seal in seals:
        y = (seal.y0 + seal.y1) / 2
        above = [place for place, draft in enumerate(drafts) if draft.place[1] < y]
        drafts.insert(above[-1] + 1 if above else 0, Draft(kind="seal", island=seal))
    return drafts


def _flow(things: Sequence[Thing], how: Cutting, *, exact: bool) -> list[Draft]:
    """Drafts of a page's things in reading order; forms are opened, drawn box by drawn box."""
    drafts: list[Draft] = []
    for number, column in enumerate(columns(things, how)):
        run: list[Piece] = []
        for thing in column:
            if isinstance(thing, Piece):
                run.append(thing)
                continue
            drafts += _paragraphs(run, number, exact=exact)
            run = []
            drafts += _opened(thing, how, exact=exact, number=number)
        drafts += _paragraphs(run, number, exact=exact)
    return drafts


def _opened(island: Island, how: Cutting, *, exact: bool, number: int) -> list[Draft]:
    if island.kind != "form":
        rows = rows_of([thing for thing in in_rows(island.inside) if isinstance(thing, Piece)])
        return [Draft(rows, kind=island.kind, island=island, column=number)]
    drafts: list[Draft] = []
    for group in island.groups:
        inner = _flow(group, how, exact=exact)
        for draft in inner:
            draft.column = number
        drafts += inner
    return drafts


def _paragraphs(pieces: Sequence[Piece], number: int, *, exact: bool) -> list[Draft]:
    """Paragraphs, programs and displayed formulas of one column's lines."""
    rows = rows_of(pieces)
    if not rows:
        return []
    column = column_of(rows, exact=exact)
    programs = program_runs(rows) if exact else []
    taken = {place for first, after in programs for place in range(first, after)}
    formulas = [run for run in formula_runs(rows, column.em) if not taken.intersection(range(*run))]
    special = sorted([(*run, "code") for run in programs] + [(*run, "formula") for run in formulas])
    drafts: list[Draft] = []
    place = 0
    for first, after, kind in [*special, (len(rows), len(rows), "")]:
        if first > place:
            drafts += [Draft(group, column=number) for group in paragraphs(rows[place:first], column)]
        if after > first:
            drafts.append(Draft(list(rows[first:after]), kind=kind, column=number))
        place = after
    return drafts
