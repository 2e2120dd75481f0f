"""What table finding sees of a page: text and straight lines in pixels."""

from dataclasses import dataclass

from pageloom.layout.page import LayoutPage
from pageloom.layout.tables.frame import Frame, Piece, text_height
from pageloom.layout.tables.rulings import Segment, segments
from pageloom.layout.tables.text import parted


@dataclass(frozen=True, slots=True)
class Sight:
    """Text and straight lines of one page.

    Attributes:
        pieces: whole lines; `parts` are they, cut at wide gaps.
        height: of a text line, px.
    """

    frame: Frame
    pieces: tuple[Piece, ...]
    parts: tuple[Piece, ...]
    segments: tuple[Segment, ...]
    height: float

    @classmethod
    def of(cls, page: LayoutPage) -> "Sight":
        """Look at a page; the lines of its pixels are searched here."""
        frame = Frame.of(page)
        pieces = tuple(frame.piece(line, n) for n, line in enumerate(page.lines) if line.text.strip())
        height = text_height(pieces)
        parts = tuple(part for p in pieces for part in parted(p, frame, height))
        return cls(frame, pieces, parts, tuple(segments(page, frame, pieces)), height)
