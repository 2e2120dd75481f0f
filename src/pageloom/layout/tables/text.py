"""Words into cells: lines cut where they run over a border, cell texts joined in reading order."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from pageloom.layout.tables.frame import Frame, Piece, Rect, overlap
from pageloom.model.blocks import Word

_CJK = re.compile(r"[　-〿぀-ヿ㐀-鿿豈-﫿＀-￯]")
_SOFT = re.compile("[\u00ad\ufffe\u0002]")


def visual_rows(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces that stand beside each other, top row first, each from left to right."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda p: p.rect.center[1]):
        row = next((r for r in reversed(rows[-3:]) if _beside(r, piece)), None)
        if row is None:
            rows.append([piece])
        else:
            row.append(piece)
    return [sorted(row, key=lambda p: p.rect.x0) for row in rows]


def _beside(row: Sequence[Piece], piece: Piece) -> bool:
    last = row[-1].rect
    middle = abs(piece.rect.center[1] - sum(p.rect.center[1] for p in row) / len(row))
    return middle < 0.45 * min(last.height, piece.rect.height) or (
        middle < 0.6 * min(last.height, piece.rect.height)
        and all(overlap(p.rect.x0, p.rect.x1, piece.rect.x0, piece.rect.x1) <= 0 for p in row)
    )


def joined(pieces: Sequence[Piece]) -> str:
    """The text of a cell: its lines joined without a space between Chinese signs, with one elsewhere."""
    text = ""
    for row in visual_rows(pieces):
        line = ""
        for piece in row:
            line = _join(line, piece.text.strip(), hyphen=False)
        text = _join(text, line, hyphen=True)
    return _SOFT.sub("", text)


def _join(before: str, after: str, *, hyphen: bool) -> str:
    if not before or not after:
        return before + after
    if hyphen and _SOFT.match(before[-1]):
        return before[:-1] + after
    if hyphen and len(before) > 2 and before[-1] == "-" and before[-2].isalpha() and after[0].islower():
        return before[:-1] + after
    if _CJK.match(before[-1]) and _CJK.match(after[0]):
        return before + after
    return f"{before} {after}"


def words_of(piece: Piece, frame: Frame) -> list[tuple[Word, Rect]]:
    """Words with their place in px; where the reader gave none, every word's share of the line is estimated."""
    if piece.words:
        return [(w, frame.rect(w.box)) for w in piece.words]
    parts = _units(piece.text)
    widths = [_width(p) for p in parts]
    total, at, found = max(1e-6, sum(widths)), 0.0, []
    for part, width in zip(parts, widths, strict=True):
        x0 = piece.rect.x0 + piece.rect.width * at / total
        at += width
        x1 = piece.rect.x0 + piece.rect.width * at / total
        if part.strip():
            rect = Rect(x0, piece.rect.y0, x1, piece.rect.y1)
            found.append((Word(part, frame.box(rect), piece.score), rect))
    return found


def _units(text: str) -> list[str]:
    """Latin words whole, Chinese signs one by one, white space as its own part."""
    return re.findall(r"\s+|[　-〿぀-ヿ㐀-鿿豈-﫿＀-￯]|[^\s　-〿぀-ヿ㐀-鿿豈-﫿＀-￯]+", text)


def _width(part: str) -> float:
    return sum(2.0 if _CJK.match(sign) else 1.0 for sign in part)


def cut(piece: Piece, frame: Frame, place: Callable[[Rect], int | None]) -> list[tuple[int | None, Piece]]:
    """A line cut into the runs of words that `place` puts into the same cell.

    Returns:
        Pairs of the place's answer and the piece of the line that belongs there, left to right.
    """
    runs: list[tuple[int | None, list[tuple[Word, Rect]]]] = []
    for word, rect in words_of(piece, frame):
        where = place(rect)
        if runs and runs[-1][0] == where:
            runs[-1][1].append((word, rect))
        else:
            runs.append((where, [(word, rect)]))
    if len(runs) <= 1:
        return [(runs[0][0] if runs else place(piece.rect), piece)]
    return [(where, _run(piece, several)) for where, several in runs]


def parted(piece: Piece, frame: Frame, gap: float) -> list[Piece]:
    """A line cut at gaps between words wider than `gap` px: the reader ran over a column border."""
    words = words_of(piece, frame) if piece.words else []
    borders = [(a[1].x1 + b[1].x0) / 2 for a, b in pairwise(words) if b[1].x0 - a[1].x1 > gap]
    if not borders:
        return [piece]
    return [part for _, part in cut(piece, frame, lambda r: sum(b < r.center[0] for b in borders))]


def _run(piece: Piece, words: Sequence[tuple[Word, Rect]]) -> Piece:
    text, last = "", None
    for word, rect in words:
        gap = last is not None and rect.x0 - last.x1 > 0.18 * rect.height
        latin = bool(text) and not (_CJK.match(text[-1]) and _CJK.match(word.text[:1] or " "))
        text += (
            " " if last is not None and (gap or (latin and not _tight(text, word.text, piece.text))) else ""
        ) + word.text
        last = rect
    return replace(piece, text=text, rect=Rect.around(r for _, r in words), words=tuple(w for w, _ in words))


def _tight(before: str, word: str, whole: str) -> bool:
    """Whether two words follow each other without a space in the line as it was read."""
    return before[-8:] + word in whole
