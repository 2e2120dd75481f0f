"""Drafts of blocks become the model's blocks."""

from collections.abc import Sequence

from pageloom.layout.continued import runs_of
from pageloom.layout.drafts import Draft
from pageloom.layout.page import LayoutPage
from pageloom.layout.pieces import Piece
from pageloom.layout.rows import Row
from pageloom.layout.text import joined, words_of
from pageloom.model.blocks import (
    Basis,
    Block,
    BlockFields,
    Caption,
    Code,
    Confidence,
    Figure,
    Footnote,
    Formula,
    Heading,
    Line,
    ListItem,
    PageNumber,
    Paragraph,
    Reference,
    RunningFooter,
    RunningHeader,
)
from pageloom.model.geometry import Box, Region

_PLAIN: dict[str, type[Block]] = {
    "paragraph": Paragraph,
    "caption": Caption,
    "footnote": Footnote,
    "reference": Reference,
    "running_header": RunningHeader,
    "running_footer": RunningFooter,
    "page_number": PageNumber,
    "figure": Figure,
}


def built(page: LayoutPage, drafts: Sequence[Draft]) -> tuple[Block, ...]:
    """Blocks of drafts, numbered in their order; ids are provisional."""
    known = words_of(piece.line.text for draft in drafts for piece in draft.pieces)
    names = {id(draft): f"b{place}" for place, draft in enumerate(drafts)}
    return tuple(_block(page.number, place, draft, known, names) for place, draft in enumerate(drafts))


def _block(number: int, place: int, draft: Draft, known: frozenset[str], names: dict[int, str]) -> Block:
    name = names[id(draft)]
    parent = names.get(id(draft.parent)) if draft.parent is not None else None
    if draft.island is not None and draft.island.block is not None:
        return draft.island.block.model_copy(update={"id": name, "order": place, "parent": parent})
    pieces = draft.pieces
    fields = BlockFields(
        id=name,
        order=place,
        parent=parent,
        regions=_regions(number, draft),
        lines=lines_of(name, number, pieces),
        confidence=confidence_of(pieces),
        notes=draft.notes,
    )
    return _of_kind(draft, dict(fields), known)


def _regions(number: int, draft: Draft) -> tuple[Region, ...]:
    """Where a draft stands; one region for each column it runs through."""
    if draft.island is not None:
        return (Region(number, draft.island.box),)
    parts = [[one for row in run for piece in row.pieces for one in piece.single()] for run in runs_of(draft.rows)]
    return tuple(Region(number, Box.around(piece.line.box for piece in part)) for part in parts)


def _of_kind(draft: Draft, fields: dict[str, object], known: frozenset[str]) -> Block:
    texts = [row.text for row in draft.rows]
    match draft.kind:
        case "heading":
            return Heading.model_validate({**fields, "text": joined(texts, known), "level": draft.level})
        case "list_item":
            text = joined(texts, known).removeprefix(draft.marker).lstrip()
            return ListItem.model_validate({**fields, "text": text, "marker": draft.marker, "depth": draft.depth})
        case "code":
            return Code.model_validate({**fields, "text": indented(draft.rows)})
        case "formula":
            return Formula.model_validate({**fields, "text": " ".join(texts), "latex": None})
        case "figure":
            return Figure.model_validate({**fields, "text": "\n".join(texts)})
        case _:
            return _PLAIN[draft.kind].model_validate({**fields, "text": joined(texts, known)})


def indented(rows: Sequence[Row]) -> str:
    """Program text: lines and their indentation, told from where they begin on the page."""
    left = min(row.x0 for row in rows)
    widths = sorted((row.x1 - row.x0) / len(row.text) for row in rows if row.text)
    letter = max(1.0, widths[len(widths) // 2])
    return "\n".join(" " * round((row.x0 - left) / letter) + row.text for row in rows)


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
