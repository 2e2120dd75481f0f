"""Stacked fractions inside running text: numerator and denominator are one thing on the line."""

import re
from collections.abc import Sequence

from pageloom.layout.pieces import Piece

_OPERAND = re.compile(r"[\dA-Za-z]{1,4}")


def stack_fractions(pieces: Sequence[Piece], *, exact: bool) -> list[Piece]:
    """Join numerators with their denominators where a line of text stands level with the bar between them.

    Args:
        pieces: all lines of the text's columns.
        exact: the text is the page's own and no sign may be added; a space stands for the bar then.
    """
    short = [piece for piece in pieces if piece.flat and _OPERAND.fullmatch(piece.text)]
    used: set[int] = set()
    made: dict[int, Piece] = {}
    for upper in sorted(short, key=lambda piece: piece.y0):
        lower = next((piece for piece in short if _stacked(upper, piece) and id(piece) not in used), None)
        if lower is None or id(upper) in used or not _level_text(upper, lower, pieces):
            continue
        used |= {id(upper), id(lower)}
        made[id(upper)] = _joined(upper, lower, exact=exact)
    return [made.get(id(piece), piece) for piece in pieces if id(piece) in made or id(piece) not in used]


def _stacked(upper: Piece, lower: Piece) -> bool:
    if lower is upper or not -0.4 * upper.em < lower.y0 - upper.y1 < 0.7 * upper.em or lower.mid <= upper.mid:
        return False
    shared = min(upper.x1, lower.x1) - max(upper.x0, lower.x0)
    narrow, wide = sorted((upper.x1 - upper.x0, lower.x1 - lower.x0))
    return shared > 0.6 * narrow and wide < 3 * narrow and 0.6 < upper.em / lower.em < 1.7


def _level_text(upper: Piece, lower: Piece, pieces: Sequence[Piece]) -> bool:
    """Whether another line stands level with the middle of a stack, near by, and with neither half of it."""
    mid, em = (upper.mid + lower.mid) / 2, min(upper.em, lower.em)
    for piece in pieces:
        if piece is upper or piece is lower or not piece.flat or abs(piece.mid - mid) > 0.4 * em:
            continue
        apart = max(piece.x0 - max(upper.x1, lower.x1), min(upper.x0, lower.x0) - piece.x1)
        if -0.5 * em < apart < 5 * em:
            return True
    return False


def _joined(upper: Piece, lower: Piece, *, exact: bool) -> Piece:
    return Piece(
        line=upper.line,
        index=upper.index,
        x0=min(upper.x0, lower.x0),
        y0=upper.y0,
        x1=max(upper.x1, lower.x1),
        y1=lower.y1,
        em=upper.em,
        under=lower,
        bar=" " if exact else "/",
    )
