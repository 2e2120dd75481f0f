"""Lines that run across the reading direction: stamps in the margin, labels of rows."""

from collections.abc import Sequence

from pageloom.layout.drafts import Draft
from pageloom.layout.pieces import Piece
from pageloom.layout.rows import row_of


def margin_notes(pieces: Sequence[Piece]) -> list[Draft]:
    """One draft for each run of sideways lines that stand beside each other, read in their own direction."""
    groups: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda one: (round(one.line.angle), one.x0, one.y0)):
        if groups and _beside(groups[-1][-1], piece):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return [_draft(group) for group in groups]


def _beside(one: Piece, other: Piece) -> bool:
    level = min(one.y1, other.y1) - max(one.y0, other.y0) > 0.5 * min(one.y1 - one.y0, other.y1 - other.y0)
    return level and other.x0 - one.x1 < 1.0 * one.em and abs(one.line.angle - other.line.angle) < 5


def _draft(group: list[Piece]) -> Draft:
    # Turned clockwise (90 degrees) the first line stands rightmost, turned the other way leftmost.
    if 45 < group[0].line.angle % 360 < 135:
        group = group[::-1]
    return Draft([row_of([piece]) for piece in group], notes=("sideways",))
