"""HTML tables as a model writes them, to cells: spans clamped to the grid, unclosed tags closed, wrappers dropped."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

MAX_CELLS = 20_000
MAX_COLUMNS = 200
MAX_ROW_SPAN = 2_000

_TAG = re.compile(
    r"<(/?)(table|tr|td|th|thead|tbody|tfoot|caption|colgroup|col|br|p|div|html|body|center)\b([^<>]{0,400})>", re.I
)
_MARKUP = re.compile(r"</?(?:b|i|u|strong|em|span|font|sup|sub)(?:\s[^<>]{0,200})?>", re.I)
_SPAN = re.compile(r"\b(row|col)span\s*=\s*[\"']?\s*(\d{1,9})", re.I)
_BLANKS = re.compile(r"[ \t\r\f\v]*\n[ \t\r\f\v\n]*|[ \t\r\f\v]+")


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell: row and column from 0, spans of at least 1."""

    row: int
    column: int
    row_span: int
    column_span: int
    text: str
    header: bool


@dataclass(frozen=True, slots=True)
class Grid:
    """A table's cells in reading order; `outside` are words that stood between the cells (a caption, strays)."""

    rows: int
    columns: int
    cells: tuple[GridCell, ...]
    outside: str = ""
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Open:
    row_span: int
    column_span: int
    header: bool
    words: list[str] = field(default_factory=list)


class _Builder:
    """Puts cells on the grid as their tags come."""

    def __init__(self) -> None:
        self.row = -1
        self.column = 0
        self.busy: dict[int, int] = {}
        """Column -> first row that is free again below a cell that spans rows."""
        self.cells: list[GridCell] = []
        self.outside: list[str] = []
        self.notes: set[str] = set()
        self.cell: _Open | None = None
        self.depth = 0
        self.in_head = False

    def words(self, text: str) -> None:
        """Text between tags: into the open cell, else beside the table."""
        if self.cell is not None:
            self.cell.words.append(text)
        elif text.strip():
            self.outside.append(text)

    def tag(self, name: str, attributes: str, *, closing: bool) -> None:
        """One tag; tags of a table inside a cell only part its words."""
        if name == "table":
            self._table(closing=closing)
        elif self.depth > 1:
            self.words("\n" if name == "tr" else " ")
        elif name == "thead":
            self.in_head = not closing
        elif name in {"tr", "td", "th"}:
            self._cell_or_row(name, attributes, closing=closing)
        elif name in {"br", "p", "div"}:
            self.words("\n")

    def _cell_or_row(self, name: str, attributes: str, *, closing: bool) -> None:
        self.end_cell()
        if not closing and name == "tr":
            self._next_row()
        elif not closing:
            self._open(name, attributes)

    def _table(self, *, closing: bool) -> None:
        self.depth = max(0, self.depth - 1) if closing else self.depth + 1
        if self.depth > 1 or (closing and self.depth == 1):
            self.words("\n")
            self.notes.add("nested_table")
        elif closing:
            self.end_cell()

    def _next_row(self) -> None:
        self.row += 1
        self.column = 0

    def _open(self, name: str, attributes: str) -> None:
        if self.row < 0:
            self._next_row()
        spans = {side.lower(): int(number) for side, number in _SPAN.findall(attributes)}
        self.cell = _Open(
            row_span=min(MAX_ROW_SPAN, max(1, spans.get("row", 1))),
            column_span=min(MAX_COLUMNS, max(1, spans.get("col", 1))),
            header=name == "th" or self.in_head,
        )

    def end_cell(self) -> None:
        """Put the open cell into the first free place of its row; cells beyond the bounds keep their words outside."""
        opened, self.cell = self.cell, None
        if opened is None:
            return
        text = cell_text("".join(opened.words))
        while self.busy.get(self.column, 0) > self.row:
            self.column += 1
        if len(self.cells) >= MAX_CELLS or self.column >= MAX_COLUMNS:
            self.notes.add("table_too_large")
            self.outside.append(text + "\n")
            return
        width = self._free_width(min(opened.column_span, MAX_COLUMNS - self.column))
        if opened.row_span > 1:
            self.busy.update(dict.fromkeys(range(self.column, self.column + width), self.row + opened.row_span))
        self.cells.append(GridCell(self.row, self.column, opened.row_span, width, text, opened.header))
        self.column += width

    def _free_width(self, wished: int) -> int:
        """A wide cell ends before a column that a cell above still holds."""
        for width in range(1, wished):
            if self.busy.get(self.column + width, 0) > self.row:
                self.notes.add("span_clamped")
                return width
        return wished

    def grid(self) -> Grid:
        """The finished table: no span reaches below the last row, no column is wider than its cells."""
        self.end_cell()
        rows = self.row + 1
        cells = tuple(self._clamped(cell, rows) for cell in self.cells)
        columns = max((cell.column + cell.column_span for cell in cells), default=0)
        outside = cell_text("".join(self.outside))
        return Grid(rows, columns, cells, outside, tuple(sorted(self.notes)))

    def _clamped(self, cell: GridCell, rows: int) -> GridCell:
        height = min(cell.row_span, rows - cell.row)
        if height != cell.row_span:
            self.notes.add("span_clamped")
        return GridCell(cell.row, cell.column, height, cell.column_span, cell.text, cell.header)


def cell_text(words: str) -> str:
    """A cell's words: entities resolved, inline markup dropped, blanks folded, line breaks kept."""
    folded = _BLANKS.sub(lambda found: "\n" if "\n" in found[0] else " ", unescape(_MARKUP.sub("", words)))
    return folded.strip()


def read_html(html: str) -> Grid:
    """Cells of the first table in `html` (tables inside its cells become words of the cell). Linear, never raises."""
    builder = _Builder()
    at = 0
    for found in _TAG.finditer(html):
        builder.words(html[at : found.start()])
        builder.tag(found[2].lower(), found[3], closing=bool(found[1]))
        at = found.end()
    builder.words(html[at:])
    return builder.grid()


_EDGE = re.compile(r"<(/?)table\b[^<>]{0,400}>", re.I)


def tables_in(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each outermost `<table>` in a text; one without an end reaches to the end of the text."""
    depth = start = 0
    for found in _EDGE.finditer(text):
        if not found[1]:
            start = found.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield start, found.end()
    if depth:
        yield start, len(text)


_RULE = re.compile(r"\|?(?:\s{0,80}:?-{1,300}:?\s{0,80}\|)*\s{0,80}:?-{1,300}:?\s{0,80}\|?\s*")
_PIPE = re.compile(r"(?<!\\)\|")


def is_rule(line: str) -> bool:
    """Whether a line parts head and body of a pipe table: `|---|:--:|`."""
    return len(line) < 8000 and "|" in line and bool(_RULE.fullmatch(line.strip()))


def read_pipes(lines: list[str]) -> Grid:
    """Cells of a Markdown pipe table whose second line is the rule; the first row is the header."""
    rows = [line for number, line in enumerate(lines) if number != 1]
    cells: list[GridCell] = []
    for row, line in enumerate(rows):
        inner = line.strip().removeprefix("|").removesuffix("|")
        for column, text in enumerate(_PIPE.split(inner)[:MAX_COLUMNS]):
            cells.append(GridCell(row, column, 1, 1, cell_text(text.replace("\\|", "|")), row == 0))
    return Grid(len(rows), max((cell.column + 1 for cell in cells), default=0), tuple(cells[:MAX_CELLS]))
