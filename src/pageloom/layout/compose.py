"""Lines of one page become blocks in reading order."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pageloom.layout.build import Draft, built
from pageloom.layout.order import Cutting, columns, uprights_of
from pageloom.layout.page import LayoutPage
from pageloom.layout.pieces import Island, Piece, common_em, frame_of, is_rtl, measure
from pageloom.layout.rows import column_of, paragraphs, rows_of
from pageloom.layout.text import words_of
from pageloom.model.blocks import Block

Mode = Literal["model", "rules"]


@dataclass(frozen=True, slots=True)
class LayoutTools:
    """What composing needs and loads once: the layout model (mode "model") and the table tools."""

    mode: Mode

    @classmethod
    def load(cls, models_folder: Path | None, mode: Mode) -> "LayoutTools":  # noqa: ARG003 - the models come next
        """Load what a mode needs.

        Args:
            models_folder: where model files are; None = the user's data folder.
            mode: "model" finds regions with layout_cdla, "rules" by geometry only.

        Raises:
            ModelsMissing: mode "model" without the model files.
        """
        return cls(mode)


def compose(page: LayoutPage, tools: LayoutTools) -> tuple[Block, ...]:  # noqa: ARG001 - the models come next
    """The page's blocks in reading order, with provisional ids; every line is in exactly one block."""
    frame = frame_of(page)
    pieces = measure(page, frame)
    if not pieces:
        return ()
    em = common_em(pieces)
    flat = [piece for piece in pieces if piece.flat]
    how = Cutting(em, uprights_of(page.rulings, frame.width, frame.height), is_rtl(_all_text(pieces)))
    drafts = _drafts(flat, how, exact=page.basis == "text-layer")
    drafts += [Draft(rows_of([piece])) for piece in pieces if not piece.flat]
    return built(page, drafts, words_of(piece.line.text for piece in pieces))


def _drafts(flat: list[Piece], how: Cutting, *, exact: bool) -> list[Draft]:
    drafts: list[Draft] = []
    for things in columns(flat, how):
        rows = rows_of([thing for thing in things if not isinstance(thing, Island)])
        if rows:
            column = column_of(rows, exact=exact)
            drafts += [Draft(group) for group in paragraphs(rows, column)]
    return drafts


def _all_text(pieces: list[Piece]) -> str:
    return "".join(piece.line.text for piece in pieces)
