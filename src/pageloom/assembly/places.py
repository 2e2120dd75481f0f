"""Where blocks stand on their page, and making one block of another."""

from collections.abc import Sequence
from statistics import median
from typing import TypeVar

from pageloom.model.blocks import (
    Basis,
    Block,
    BlockFields,
    Confidence,
    Footnote,
    Furniture,
    ListItem,
    PageNumber,
    RunningFooter,
    RunningHeader,
    TextBlock,
    box_on,
)
from pageloom.model.document import Page
from pageloom.model.geometry import Box

Text = TypeVar("Text", RunningHeader, RunningFooter, PageNumber)
WHOLE_PAGE = Box(0.0, 0.0, 1.0, 1.0)


def place(block: BlockFields, page: int) -> Box:
    """The box around a block on a page; the whole page for a block without a place."""
    return box_on(block, page) or WHOLE_PAGE


def flow(page: Page) -> list[Block]:
    """Blocks of a page that carry its text on: no running headers, footers, page numbers, footnotes."""
    return [block for block in page.blocks if not isinstance(block, Furniture | Footnote)]


def letter_height(block: Block, page: Page) -> float | None:
    """Median height of a block's lines in points, a measure of its letters; None without measured lines."""
    heights = [
        min(line.box.height * page.size.height, line.box.width * page.size.width)
        for line in block.lines
        if line.precision == "exact" and line.text.strip()
    ]
    return median(heights) if heights else None


def turned_into(kind: type[Text], block: TextBlock) -> Text:
    """The same words, place and id as a block of another kind; a list item's marker goes back into its words."""
    text = block.text
    if isinstance(block, ListItem) and block.marker and not text.startswith(block.marker):
        text = f"{block.marker} {text}"
    shared = {name: getattr(block, name) for name in BlockFields.model_fields}
    return kind(text=text, **shared)


def mean_confidence(parts: Sequence[tuple[Confidence, int]]) -> Confidence:
    """Mean by letters of several confidences; the basis is that of most letters."""
    weights: dict[Basis, int] = {}
    total = letters = 0.0
    for confidence, size in parts:
        if confidence.value is not None and size:
            total += confidence.value * size
            letters += size
            weights[confidence.basis] = weights.get(confidence.basis, 0) + size
    if not letters:
        return parts[0][0] if parts else Confidence()
    return Confidence(round(total / letters, 4), max(weights, key=lambda basis: weights[basis]))


def without(page: Page, gone: str, heir: str) -> Page:
    """A page without one block, whose children now belong to another, which is named in `continued`."""
    blocks = tuple(
        block.model_copy(update={"parent": heir}) if block.parent == gone else block
        for block in page.blocks
        if block.id != gone
    )
    named = page.continued if heir in page.continued else (*page.continued, heir)
    return page.model_copy(update={"blocks": blocks, "continued": named})


def exchanged(page: Page, block: Block) -> Page:
    """A page with one block in place of the one of the same id."""
    blocks = tuple(block if old.id == block.id else old for old in page.blocks)
    return page.model_copy(update={"blocks": blocks})
