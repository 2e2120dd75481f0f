"""Cells read again: a line that ran over a border in the middle of a word is read cell by cell."""

from collections.abc import Sequence
from dataclasses import dataclass

from pageloom.layout.page import LayoutPage
from pageloom.layout.tables.frame import Frame, Piece, Rect, overlap
from pageloom.layout.tables.text import joined, words_of

MOST = 40  # cells of a page that are read again, about 10 ms each
INSET_PX = 3  # the border itself is not shown to the reader


@dataclass(slots=True)
class Again:
    """Reads cells of one page again, a bounded number of times."""

    page: LayoutPage
    frame: Frame
    left: int = MOST

    def cells(self, piece: Piece, rects: Sequence[Rect]) -> list[Piece] | None:
        """What each of several cells says at the height of a line.

        Returns:
            A piece per rectangle (with empty text where nothing was read), or None when nothing can be read again.
        """
        if self.page.reread is None or self.left < len(rects) or not _word_over_border(piece, rects, self.frame):
            return None
        self.left -= len(rects)
        read = [self._one(piece, rect) for rect in rects]
        return read if any(p.text for p in read) else None

    def _one(self, piece: Piece, rect: Rect) -> Piece:
        slack = 0.25 * piece.rect.height
        band = Rect(
            rect.x0 + INSET_PX,
            max(rect.y0 + INSET_PX, piece.rect.y0 - slack),
            rect.x1 - INSET_PX,
            min(rect.y1 - INSET_PX, piece.rect.y1 + slack),
        )
        if self.page.reread is None or band.width < 4 or band.height < 4:
            return Piece("", band, piece.line)
        lines = [line for line in self.page.reread(self.frame.box(band), 0) if line.text.strip()]
        parts = [self.frame.piece(line, piece.line) for line in lines]
        if not parts:
            return Piece("", band, piece.line)
        scores = [p.score for p in parts if p.score is not None]
        words = tuple(word for p in parts for word in p.words)
        score = min(scores) if scores else None
        return Piece(joined(parts), Rect.around(p.rect for p in parts), piece.line, words, score, reread=True)


def _word_over_border(piece: Piece, rects: Sequence[Rect], frame: Frame) -> bool:
    """Whether a word lies in two of the cells with a good part each."""
    least = 0.5 * piece.rect.height
    return any(
        sum(overlap(word.x0, word.x1, rect.x0, rect.x1) > least for rect in rects) > 1
        for _, word in words_of(piece, frame)
    )
