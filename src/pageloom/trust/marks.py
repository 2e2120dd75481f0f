"""Blocks that another text of the page does not bear out are marked, so that a reader sees where to look."""

from collections.abc import Iterable

from pageloom.model.blocks import Block
from pageloom.trust.agreement import Agreement

NOT_IN_TEXT_LAYER = "not_in_text_layer"
BORNE_OUT = 0.8  # share of a block's letters; below it more than a stray word differs


def marked(blocks: Iterable[Block], found: Agreement) -> tuple[Block, ...]:
    """The same blocks, those that the text layer lacks for the most part with a note `not_in_text_layer`."""
    return tuple(
        block.model_copy(update={"notes": (*block.notes, NOT_IN_TEXT_LAYER)})
        if (share := found.share(block.id)) is not None and share < BORNE_OUT
        else block
        for block in blocks
    )
