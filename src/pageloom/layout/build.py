"""Drafts of blocks become the model's blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

from pageloom.layout.page import LayoutPage
from pageloom.layout.pieces import Piece
from pageloom.layout.rows import Row
from pageloom.layout.text import joined
from pageloom.model.blocks import Basis, Block, Confidence, Line, Paragraph
from pageloom.model.geometry import Box, Region


@dataclass(slots=True, eq=False)
class Draft:
    """A block in the making: its rows in reading order."""

    rows: list[Row]

    @property
    def pieces(self) -> list[Piece]:
        """All lines, in reading order."""
        return [piece for row in self.rows for piece in row.pieces]


def built(page: LayoutPage, drafts: Sequence[Draft], known: frozenset[str]) -> tuple[Block, ...]:
    """Blocks of drafts, numbered in their order; ids are provisional."""
    return tuple(_block(page.number, place, draft, known) for place, draft in enumerate(drafts))


def _block(number: int, place: int, draft: Draft, known: frozenset[str]) -> Block:
    name = f"b{place}"
    pieces = draft.pieces
    return Paragraph(
        id=name,
        order=place,
        regions=(Region(number, Box.around(piece.line.box for piece in pieces)),),
        lines=lines_of(name, number, pieces),
        confidence=confidence_of(pieces),
        text=joined([row.text for row in draft.rows], known),
    )


def lines_of(owner: str, number: int, pieces: Sequence[Piece]) -> tuple[Line, ...]:
    """The model's lines of found lines."""
    return tuple(
        Line(
            id=f"{owner}-l{place}",
            text=piece.line.text,
            page=number,
            box=piece.line.box,
            confidence=piece.line.confidence,
            words=piece.line.words,
        )
        for place, piece in enumerate(pieces, 1)
    )


def confidence_of(pieces: Sequence[Piece]) -> Confidence:
    """Mean of the lines' confidences, weighted by their letters; its basis is that of most letters."""
    weights: dict[Basis, int] = {}
    total = letters = 0.0
    for piece in pieces:
        size, confidence = len(piece.line.text), piece.line.confidence
        if confidence.value is not None:
            total += confidence.value * size
            letters += size
            weights[confidence.basis] = weights.get(confidence.basis, 0) + size
    if not letters:
        return Confidence()
    return Confidence(min(1.0, total / letters), max(weights, key=lambda basis: weights[basis]))
