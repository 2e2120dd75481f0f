"""Regions that are one thing for the reading order: tables, forms, figures, formulas, seals, signatures."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pageloom.layout.formulas import mathematical, without_text
from pageloom.layout.order import in_rows
from pageloom.layout.page import LayoutPage
from pageloom.layout.pieces import Frame, Island, Piece, around, common_em, text_edge
from pageloom.layout.regions import FoundRegion
from pageloom.layout.rows import rows_of
from pageloom.layout.seals import FoundSeal, find_seals
from pageloom.layout.signatures import FoundSignature, find_signatures
from pageloom.layout.tables import FoundForm, FoundTable, TableTools, study
from pageloom.model.geometry import Box

FIGURE_SCORE = 0.5
EQUATION_SCORE = 0.45
LARGEST_FIGURE = 0.7  # share of the page; a larger "figure" is the page itself (magazines, receipts, photos)
SMALLEST_FIGURE = 0.006  # share of the page; smaller pictures are icons and rules
INSIDE = 0.6  # share of a line's area that makes it part of a region
TEXT_COVER = 0.22  # share of a "figure" under lines of text from which on it is text: print covers 0.4, labels 0.1


@dataclass(frozen=True, slots=True)
class Found:
    """What was found on a page apart from running text: islands, and lines that are running text."""

    islands: list[Island]
    rest: list[Piece]


def find_islands(
    page: LayoutPage, frame: Frame, pieces: Sequence[Piece], regions: Sequence[FoundRegion], tables: TableTools
) -> Found:
    """Islands of a page, and the lines that are in none."""
    proposed = [(region.box, region.score) for region in regions if region.kind == "table"]
    findings = study(page, proposed, tables)
    islands: list[Island] = []
    rest = list(pieces)
    finders: tuple[Callable[[Sequence[Piece]], list[Island]], ...] = (
        lambda lines: _tables(findings.tables, frame, lines),
        lambda lines: _forms(findings.forms, frame, lines),
        lambda lines: _formulas(regions, frame, lines),
        lambda lines: _figures(page, regions, frame, lines),
    )
    for finder in finders:
        for island in finder(rest):
            if all(_apart(island, other) for other in islands):
                islands.append(island)
                taken = {id(piece) for piece in island.inside}
                rest = [piece for piece in rest if id(piece) not in taken]
    return Found(islands, rest)


def stamps(page: LayoutPage, frame: Frame, pieces: Sequence[Piece]) -> Found:
    """Seals and signatures, which lie over the text rather than in it, and the lines that are not of their ink."""
    islands = []
    taken: set[int] = set()
    by_index = {piece.index: piece for piece in pieces}
    # A text layer's words are print, never what somebody made of handwriting.
    signatures = find_signatures(page) if page.basis != "text-layer" else []
    marks: list[FoundSeal | FoundSignature] = [*find_seals(page), *signatures]
    for mark in marks:
        island = _island(mark.block.kind, mark.box, frame)
        island.block = mark.block
        island.inside = [by_index[index] for index in sorted(mark.line_indices) if index in by_index]
        taken |= {piece.index for piece in island.inside}
        islands.append(island)
    return Found(islands, [piece for piece in pieces if piece.index not in taken])


def _apart(island: Island, other: Island) -> bool:
    return island.box.intersection(other.box) < 0.3 * min(island.box.area, other.box.area)


def _tables(tables: Sequence[FoundTable], frame: Frame, pieces: Sequence[Piece]) -> list[Island]:
    by_index = {piece.index: piece for piece in pieces}
    islands = []
    for table in tables:
        if table.block.columns < 2 or _prose(table, frame):
            continue
        island = _island("table", table.box, frame)
        island.block = table.block
        island.inside = [by_index[index] for index in sorted(table.line_indices) if index in by_index]
        islands.append(island)
    return islands


def _prose(table: FoundTable, frame: Frame) -> bool:
    """Whether a table without drawn rules is running text: cells that are paragraphs, or lines cut at plain spaces."""
    if "table_by_rules" in table.block.notes:
        return False
    cells = [cell for cell in table.block.cells if cell.text.strip()]
    long = [cell for cell in cells if len(cell.lines) >= 3 and len(cell.text) > 60]
    return len(long) > 0.5 * len(cells) or _cut_at_spaces(table, frame)


def _cut_at_spaces(table: FoundTable, frame: Frame) -> bool:
    """Whether most neighbours in a row stand as close as two words of a sentence."""
    rows: dict[int, list[tuple[float, float, float]]] = {}
    for cell in table.block.cells:
        for line in cell.lines[:1]:
            x0, y0, x1, y1 = frame.place(line.box)
            rows.setdefault(cell.row, []).append((x0, x1, y1 - y0))
    close = total = 0
    for places in rows.values():
        places.sort()
        for (_, end, high), (start, _, _) in pairwise(places):
            total += 1
            close += start - end < 0.55 * high
    return total > 2 and close > 0.4 * total


def _forms(forms: Sequence[FoundForm], frame: Frame, pieces: Sequence[Piece]) -> list[Island]:
    by_index = {piece.index: piece for piece in pieces}
    islands = []
    for form in forms:
        island = _island("form", form.box, frame)
        for group in form.groups:  # a line cut by a rule may be named in both boxes; it is read once
            inside = [by_index.pop(index) for index in group if index in by_index]
            if inside:
                island.groups.append(inside)
        island.inside = [piece for group in island.groups for piece in group]
        if island.inside:
            islands.append(island)
    return islands


def _formulas(regions: Sequence[FoundRegion], frame: Frame, pieces: Sequence[Piece]) -> list[Island]:
    islands = []
    left = text_edge(pieces)
    for region in regions:
        if region.kind != "equation" or region.score < EQUATION_SCORE:
            continue
        inside = _inside(pieces, region.box)
        if not inside or not mathematical(" ".join(piece.text for piece in inside)):
            continue
        for part in without_text(rows_of([piece for piece in in_rows(inside) if isinstance(piece, Piece)]), left):
            several = [piece for row in part for piece in row.pieces]
            several += _equation_numbers(several, pieces)
            island = _island("formula", Box.around(piece.line.box for piece in several), frame)
            island.inside = several
            islands.append(island)
    return islands


def _equation_numbers(formula: Sequence[Piece], pieces: Sequence[Piece]) -> list[Piece]:
    """The number printed at the right of a displayed formula, level with it."""
    _, y0, x1, y1 = around(formula)
    taken = {id(piece) for piece in formula}
    return [
        piece
        for piece in pieces
        if id(piece) not in taken
        and re.fullmatch(r"[(（]\d{1,3}(?:\.\d{1,3})*[a-z]?[)）]", piece.text)
        and y0 < piece.mid < y1
        and 0 < piece.x0 - x1 < 22 * piece.em
    ]


def _figures(page: LayoutPage, regions: Sequence[FoundRegion], frame: Frame, pieces: Sequence[Piece]) -> list[Island]:
    boxes = [region.box for region in regions if region.kind == "figure" and region.score >= FIGURE_SCORE]
    boxes += [box.clamped() for box in page.pictures]
    islands: list[Island] = []
    for box in sorted(boxes, key=lambda one: -one.area):
        if not SMALLEST_FIGURE < box.area < LARGEST_FIGURE:
            continue
        inside = _inside(pieces, box)
        if _is_text(inside, box) or any(box.intersection(other.box) > 0.5 * box.area for other in islands):
            continue
        island = _island("figure", box, frame)
        island.inside = inside
        islands.append(island)
    return islands


def _inside(pieces: Sequence[Piece], box: Box) -> list[Piece]:
    return [piece for piece in pieces if piece.line.box.covered_by(box) > INSIDE]


def _is_text(inside: Sequence[Piece], box: Box) -> bool:
    """Whether a "figure" is really print: much of it under lines, or lines that stand as a paragraph does."""
    if not inside:
        return False
    cover = sum(piece.line.box.area for piece in inside) / box.area
    return cover > TEXT_COVER or _paragraph_lines(inside) >= max(4, 0.5 * len(inside))


def _paragraph_lines(inside: Sequence[Piece]) -> int:
    """How many lines are long, begin at one edge and follow each other closely."""
    em = common_em(inside)
    x0, _, x1, _ = around(inside)
    wide = [piece for piece in inside if piece.x1 - piece.x0 > max(0.5 * (x1 - x0), 12 * em)]
    return sum(
        any(abs(one.x0 - other.x0) < 1.5 * em and 0 < other.y0 - one.y0 < 2.5 * em for other in wide) for one in wide
    )


def _island(kind: str, box: Box, frame: Frame) -> Island:
    return Island(kind, box, *frame.place(box))
