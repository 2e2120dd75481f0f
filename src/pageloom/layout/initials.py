"""Drop caps: a large first letter that stands beside the first lines of its paragraph."""

from collections.abc import Sequence

from pageloom.layout.pieces import Piece

LARGE = 1.8  # height of the letter over that of the line it begins


def join_initials(pieces: Sequence[Piece]) -> list[Piece]:
    """Put large single letters at the head of the line that stands at their top right."""
    joined: dict[int, Piece] = {}
    gone: set[int] = set()
    for letter in pieces:
        if len(letter.text) != 1 or not letter.text.isupper() or not letter.flat:
            continue
        line = _line_of(letter, pieces)
        if line is not None and id(line) not in joined:
            gone.add(id(letter))
            joined[id(line)] = _with(letter, line)
    return [joined.get(id(piece), piece) for piece in pieces if id(piece) not in gone]


def _line_of(letter: Piece, pieces: Sequence[Piece]) -> Piece | None:
    """The first line beside a letter: it begins at the letter's right edge, near its top, and is much smaller."""
    tall = letter.y1 - letter.y0
    near = [
        piece
        for piece in pieces
        if piece.flat
        and len(piece.text) > 3
        and piece.text[0].isalpha()
        and tall > LARGE * (piece.y1 - piece.y0)
        and -0.3 * piece.em < piece.x0 - letter.x1 < 1.5 * piece.em
        and letter.y0 - 0.6 * tall < piece.y0 < letter.y0 + 0.5 * tall
    ]
    return min(near, key=lambda piece: piece.y0) if near else None


def _with(letter: Piece, line: Piece) -> Piece:
    return Piece(letter.line, letter.index, line.x0, line.y0, line.x1, line.y1, line.em, under=line, bar="")
