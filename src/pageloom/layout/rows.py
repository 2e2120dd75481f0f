"""Rows of a column, and where a paragraph ends."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pageloom.layout.pieces import Piece, around, is_cjk, middle
from pageloom.layout.text import SOFT_HYPHENS

BULLET = r"[•●○◦▪■□◆◇▶►➢➤✓✔‣⁃·∙]"
_NUMBERED = (
    r"[(（]?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5}|[一二三四五六七八九十]{1,3})[)）]"
    r"|(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{2,5})[.．](?=\s)"
    r"|\d{1,3}[.．](?=[^\s\d.])|(?:\d{1,3}|[一二三四五六七八九十]{1,3})、|[①-⑳❶-❿⑴-⒇]"
)
MARKER = re.compile(rf"\s*(?P<marker>{BULLET}(?=\s*\S)|[-–—*](?=\s+\S)|(?:{_NUMBERED})(?=\s*\S))\s*")
# A line of a form: label and value.
LABEL = re.compile(r"[^：:。，；,;.]{1,16}[：:]\s*(?!//)|[^\W\d_][\w /().#-]{0,28}:\s")
ENTRY_HEAD = re.compile(rf"{MARKER.pattern}|\s*\[[^\]]{{1,12}}\]|\s*\d{{1,3}}\s+[^\W\d]")
# A numbered clause: "2.1 The seller ...", "第三条 付款方式".
CLAUSE = re.compile(
    r"\d{1,2}(?:[.．]\d{1,2}){1,3}[.．]?\s*(?=[^\W\d])|第\s*[一二三四五六七八九十百\d]+\s*[章节条]|§+\s*\d"
)
ADDRESS = re.compile(r"\w@\w|https?:|www\.|[\w-]+\.(?:com|org|net|edu)\b")
STOPS = tuple(".!?:;。！？：；…”\"'」』）)")


@dataclass(slots=True, eq=False)
class Row:
    """Pieces that stand level, read along the line; points."""

    pieces: list[Piece]
    x0: float
    y0: float
    x1: float
    y1: float
    em: float
    text: str

    @property
    def mid(self) -> float:
        """Height of the middle of its longest piece, points."""
        return max(self.pieces, key=lambda piece: piece.x1 - piece.x0).mid

    @property
    def bold(self) -> bool:
        """Whether the text layer calls all of it bold."""
        return all(piece.line.bold for piece in self.pieces)

    @property
    def mono(self) -> bool:
        """Whether the text layer calls all of it monospaced."""
        return all(piece.line.mono for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Column:
    """Measures of one column's rows in points: edges, usual step from row to row, and how sure sizes are.

    Attributes:
        exact: sizes come from fonts, not from boxes a detector drew.
    """

    x0: float
    x1: float
    pitch: float
    em: float
    exact: bool


def rows_of(pieces: Sequence[Piece]) -> list[Row]:
    """Rows of pieces that are in reading order already (`order.in_rows`)."""
    groups: list[list[Piece]] = []
    for piece in pieces:
        if groups and _level(groups[-1][-1], piece):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return [row_of(group) for group in groups]


def row_of(pieces: list[Piece]) -> Row:
    """One row of level pieces."""
    x0, y0, x1, y1 = around(pieces)
    em = max(pieces, key=lambda piece: len(piece.text)).em
    text = pieces[0].text
    for before, piece in pairwise(pieces):
        more = piece.text
        close = piece.x0 - before.x1 < 0.5 * em and (is_cjk(text[-1]) or is_cjk(more[0]))
        text += more if close else f" {more}"
    return Row(pieces, x0, y0, x1, y1, em, text)


def _level(one: Piece, other: Piece) -> bool:
    overlap = min(one.y1, other.y1) - max(one.y0, other.y0)
    return overlap > 0.55 * min(one.y1 - one.y0, other.y1 - other.y0)


def column_of(rows: Sequence[Row], *, exact: bool) -> Column:
    """Measures of a column of rows (at least one)."""
    em = middle((row.em for row in rows), 10.0)
    x0, _, x1, _ = around(rows)
    return Column(x0, x1, _pitch(rows, em, x1 - x0), em, exact)


def _pitch(rows: Sequence[Row], em: float, width: float) -> float:
    """Usual step between the middles of rows: told by full rows where there are some, points."""
    steps: list[float] = []
    full: list[float] = []
    for high, low in pairwise(rows):
        step = low.mid - high.mid
        if 0.8 * em < step < 2.8 * em:
            steps.append(step)
            if min(high.x1 - high.x0, low.x1 - low.x0) > 0.6 * width:
                full.append(step)
    chosen = sorted(full if len(full) > 1 else steps)
    # Paragraph spacing would pull the middle up: the lower half tells the step inside paragraphs.
    return middle(chosen[: max(1, (len(chosen) + 1) * 2 // 3)], 1.5 * em)


def program_runs(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Stretches [first, after) of two or more monospaced rows; lone brackets between them belong to the program."""
    runs: list[tuple[int, int]] = []
    for place, row in enumerate(rows):
        if not row.mono:
            continue
        if runs and all(len(between.text) <= 3 for between in rows[runs[-1][1] : place]):
            runs[-1] = (runs[-1][0], place + 1)
        else:
            runs.append((place, place + 1))
    # Addresses of people and pages are set in such type too.
    long = [(first, after) for first, after in runs if after - first > 1]
    return [run for run in long if not any(ADDRESS.search(row.text) for row in rows[slice(*run)])]


def paragraphs(rows: Sequence[Row], column: Column) -> list[list[Row]]:
    """Rows of one column grouped into paragraphs."""
    groups: list[list[Row]] = []
    for place, row in enumerate(rows):
        after = rows[place + 1] if place + 1 < len(rows) else None
        if groups and not _begins(groups[-1], row, after, column):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _begins(group: Sequence[Row], row: Row, after: Row | None, column: Column) -> bool:
    """Whether a row begins a new paragraph after a group."""
    last = group[-1]
    step, small = row.mid - last.mid, min(last.em, row.em)
    usual = column.pitch * max(1.0, small / column.em)  # titles are set wider, by the size of their letters
    if step > usual + (0.3 if column.exact else 0.4) * small or step < -0.5 * row.em:
        return True
    if _other_print(last, row, column):
        return True
    if last.text.endswith(tuple(SOFT_HYPHENS)):
        return False
    if MARKER.match(row.text) and _marks(group, row, column):
        return True
    if LABEL.match(row.text) and LABEL.match(last.text):
        return True
    if _clause(last, row, column) or _small_title(last, row, column):
        return True
    if _centred(group, row, column):
        return False
    return _indented(group, row, after, column) or _ended(group, row, column)


def _other_print(last: Row, row: Row, column: Column) -> bool:
    """Whether two rows are set in clearly different type."""
    large, small = max(last.em, row.em), max(1.0, min(last.em, row.em))
    if large / small > (1.12 if column.exact else 1.4):
        return True
    # A bold row that runs to the edge begins a paragraph with bold words; a heading leaves room.
    other = column.exact and last.bold != row.bold and min(len(last.text), len(row.text)) > 3
    return other and _room(last, row, column)


def _marks(group: Sequence[Row], row: Row, column: Column) -> bool:
    """Whether the marker at a row's head begins something, not just a line that happens to start with a number."""
    first, last = group[0], group[-1]
    hanging = len(group) > 1 and row.x0 < group[-1].x0 - 0.7 * row.em
    sibling = MARKER.match(first.text) is not None and abs(row.x0 - first.x0) < 1.2 * row.em
    return hanging or sibling or _room(last, row, column) or last.text.endswith(STOPS) or row.x0 > last.x0 + row.em


def _clause(last: Row, row: Row, column: Column) -> bool:
    """Whether a numbered clause begins here, or a short title of one ended."""
    if CLAUSE.match(last.text) and len(last.text) < 30 and _room(last, row, column, extra=4):
        return True
    return CLAUSE.match(row.text) is not None and (_room(last, row, column) or last.text.endswith(STOPS))


def _centred(group: Sequence[Row], row: Row, column: Column) -> bool:
    """Whether rows are centred in their column, as titles are."""
    last = group[-1]
    same = abs((last.x0 + last.x1) - (row.x0 + row.x1)) < 1.2 * row.em
    margins = min(last.x0, row.x0) - column.x0 > row.em or abs(last.x0 - row.x0) > row.em
    return same and margins and (last.x0 - column.x0 > row.em or row.x0 - column.x0 > row.em)


def _small_title(last: Row, row: Row, column: Column) -> bool:
    """Whether a short centred row, alone on its line, ends before text at the left edge."""
    left, right = last.x0 - column.x0, column.x1 - last.x1
    centred = min(left, right) > max(3 * last.em, 0.15 * (column.x1 - column.x0)) and abs(left - right) < 3 * last.em
    return centred and row.x0 - column.x0 < 2.5 * row.em


def _indented(group: Sequence[Row], row: Row, after: Row | None, column: Column) -> bool:
    """Whether a row has the indent of a paragraph's first line, or ends a hanging indent."""
    last = group[-1]
    shift = row.x0 - last.x0
    if 0.8 * row.em < shift < 6 * row.em:
        first_line = after is None or after.x0 < row.x0 - 0.6 * row.em
        full = not _room(last, row, column) and not last.text.endswith(STOPS)
        hanging = len(group) == 1 and (ENTRY_HEAD.match(group[0].text) is not None or full)
        outdented = len(group) == 1 and after is not None and abs(after.x0 - row.x0) < 0.5 * row.em
        return first_line and not hanging and not outdented
    # A row back at the left edge after a hanging part begins the next entry.
    return len(group) > 1 and shift < -0.8 * row.em and group[0].x0 < last.x0 - 0.8 * row.em


def _ended(group: Sequence[Row], row: Row, column: Column) -> bool:
    """Whether the last row stopped although the next word had room: the author ended the line."""
    last = group[-1]
    return _room(last, row, column) and (last.text.endswith(STOPS) or _room(last, row, column, extra=6))


def _room(last: Row, row: Row, column: Column, extra: float = 1.0) -> bool:
    """Whether the first word of a row would have fitted at the end of the row before, with `extra` ems to spare."""
    first = row.text.split(maxsplit=1)[0]
    letters = next((place for place, char in enumerate(first) if is_cjk(char)), len(first)) + 1
    per_letter = (row.x1 - row.x0) / max(1, len(row.text))
    word = min(letters * per_letter, letters * row.em)
    return column.x1 - last.x1 > word + extra * row.em
