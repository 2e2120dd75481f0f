"""What table finding sees of a page: text and straight lines in pixels."""

from dataclasses import dataclass

from pageloom.layout.page import LayoutPage
from pageloom.layout.tables.frame import Frame, Piece, text_height
from pageloom.layout.tables.rulings import Segment, segments
from pageloom.layout.tables.text import parted

# Of the line's height. A space is 0.25-0.35, in justified lines up to 0.8; columns of small print are 0.7 apart.
WIDE_GAP, NARROW_GAP = 0.95, 0.6


@dataclass(frozen=True, slots=True)
class Sight:
    """Text and straight lines of one page.

    Attributes:
        pieces: whole lines; `parts` are they, cut at wide gaps, `fine` also at narrow ones.
        height: of a text line, px.
    """

    frame: Frame
    pieces: tuple[Piece, ...]
    parts: tuple[Piece, ...]
    fine: tuple[Piece, ...]
    segments: tuple[Segment, ...]
    height: float

    @classmethod
    def of(cls, page: LayoutPage) -> "Sight":
        """Look at a page; the lines of its pixels are searched here."""
        frame = Frame.of(page)
        pieces = tuple(frame.piece(line, n) for n, line in enumerate(page.lines) if line.text.strip())
        height = text_height(pieces)
        parts = tuple(part for p in pieces for part in parted(p, frame, WIDE_GAP * height))
        fine = tuple(part for p in parts for part in parted(p, frame, NARROW_GAP * height))
        return cls(frame, pieces, parts, fine, tuple(segments(page, frame, pieces)), height)
