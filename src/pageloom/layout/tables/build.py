"""A filled grid as a table block: ids, regions, lines, confidence."""

from dataclasses import dataclass

from pageloom.layout.page import LayoutPage
from pageloom.layout.tables.filled import Filled, Place
from pageloom.layout.tables.frame import Frame, Piece
from pageloom.layout.tables.text import joined, visual_rows
from pageloom.model.blocks import Cell, Confidence, Line, Table
from pageloom.model.geometry import Box, Region


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table on a page.

    Attributes:
        line_indices: lines of the page whose words are in it; they are not running text any more.
    """

    box: Box
    line_indices: frozenset[int]
    block: Table


def built(filled: Filled, page: LayoutPage, frame: Frame) -> FoundTable:
    """The block of a filled grid; its ids are placeholders until `identify.numbered` gives the final ones."""
    box = frame.box(filled.rect)
    places = sorted(filled.places, key=lambda p: (p.row, p.column))
    cells = tuple(_cell(place, page, frame) for place in places)
    block = Table(
        id="table",
        regions=(Region(page.number, box),),
        rows=filled.rows,
        columns=filled.columns,
        cells=cells,
        confidence=_confidence([c.confidence for c in cells if c.text], filled.sure),
        notes=(f"table_by_{filled.way}",),
    )
    return FoundTable(box, filled.lines, block)


def _cell(place: Place, page: LayoutPage, frame: Frame) -> Cell:
    name = f"r{place.row + 1}c{place.column + 1}"
    lines = tuple(
        _line(piece, f"{name}-l{n}", page, frame)
        for n, piece in enumerate((p for row in visual_rows(place.pieces) for p in row), 1)
    )
    return Cell(
        id=name,
        row=place.row,
        column=place.column,
        row_span=place.row_span,
        column_span=place.column_span,
        text=joined(place.pieces),
        header=place.header,
        regions=(Region(page.number, frame.box(place.rect)),) if place.rect is not None else (),
        lines=lines,
        confidence=_confidence([line.confidence for line in lines], 1.0),
    )


def _line(piece: Piece, name: str, page: LayoutPage, frame: Frame) -> Line:
    if piece.line >= 0:
        confidence = Confidence(piece.score, page.lines[piece.line].confidence.basis)
    else:
        confidence = Confidence(piece.score, "recogniser" if piece.score is not None else "none")
    return Line(name, piece.text.strip(), page.number, frame.box(piece.rect), confidence, piece.words)


def _confidence(parts: list[Confidence], sure: float) -> Confidence:
    known = [(p.value, len_basis) for len_basis, p in enumerate(parts) if p.value is not None]
    if not known:
        return Confidence()
    value = sum(v for v, _ in known) / len(known)
    return Confidence(round(value * sure, 4), parts[known[0][1]].basis)
