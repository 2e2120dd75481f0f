"""Lines that run across the reading direction: stamps in the margin, labels of rows."""

from collections.abc import Sequence

from pageloom.layout.drafts import Draft
from pageloom.layout.pieces import Frame, Piece
from pageloom.layout.rows import row_of

MARGIN = 0.09  # share of the page's width at either side in which sideways lines are stamps of the publisher


def margin_notes(pieces: Sequence[Piece], frame: Frame) -> list[Draft]:
    """One draft for each run of sideways lines that stand together, read in their own direction."""
    groups: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda one: (round(one.line.angle), round(one.x0 / 4), one.y0)):
        near = next((group for group in groups if any(_together(other, piece) for other in group)), None)
        if near is None:
            groups.append([piece])
        else:
            near.append(piece)
    return [_draft(group, frame) for group in groups]


def _together(one: Piece, other: Piece) -> bool:
    """Whether two sideways lines stand side by side or end to end."""
    if abs(one.line.angle - other.line.angle) > 5:
        return False
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    beside = high > 0.5 * min(one.y1 - one.y0, other.y1 - other.y0) and wide > -one.em
    behind = wide > 0.6 * min(one.x1 - one.x0, other.x1 - other.x0) and high > -3 * one.em
    return beside or behind


def _draft(group: list[Piece], frame: Frame) -> Draft:
    # Turned clockwise (90 degrees) lines run down and the first is rightmost, turned the other way they run up.
    down = 45 < group[0].line.angle % 360 < 135
    em = group[0].em
    order = sorted(group, key=lambda one: (-round(one.x0 / em), one.y0) if down else (round(one.x0 / em), -one.y1))
    x = (order[0].x0 + order[0].x1) / 2 / frame.width
    margin = x < MARGIN or x > 1 - MARGIN
    kind = "running_header" if margin and not frame.vertical else "paragraph"
    return Draft([row_of([piece]) for piece in order], kind=kind, notes=("sideways",))
