"""Tables cut by a page break, put together again: all rows, cells and boxes are kept, a repeated header is not."""

import re
import unicodedata
from collections import defaultdict
from statistics import median

from rapidfuzz import fuzz

from pageloom.assembly.places import flow, mean_confidence, place, without
from pageloom.model.blocks import Block, Caption, Cell, Heading, Paragraph, Table
from pageloom.model.document import Page
from pageloom.model.geometry import Box

CONTINUED = re.compile(r"续\s*[表上前]|[（(]\s*续|\bcont(?:inued|[’']?d|\.)|\bfortsetzung\b|\bsuite\b", re.I)
LOW = 0.55  # the first part ends below this share of its page ...
HIGH = 0.4  # ... and the second begins above this one
SAME_EDGE = 0.035  # share of the page's width by which a column may stand elsewhere on the next page
HEADER_ALIKE = 85.0  # per cent of equal letters in a header row that is printed again
MOST_HEADER_ROWS = 4


def table_joined(first: Block, later: Page) -> tuple[Table, Page] | None:
    """Join the table that ends a page with the one that begins the next.

    Args:
        first: last block in the text flow of the earlier page, or a table carried on over several pages.
        later: the page after it.

    Returns:
        The grown table and the later page without its part, or None when they are two tables.
    """
    second, remarks = _head(later)
    if not isinstance(first, Table) or second is None or not first.regions:
        return None
    end = first.regions[-1]
    if end.box.y1 < LOW or place(second, later.number).y0 > HIGH:
        return None
    if any(block.parent == second.id for block in later.blocks if block.id not in remarks):
        return None
    columns = _columns_match(first, second, later.number)
    if columns is None:
        return None
    return _grown(first, second, columns), without(later, second.id, first.id)


def tail_table(page: Page) -> Table | None:
    """The table that ends a page's text flow."""
    blocks = flow(page)
    return blocks[-1] if blocks and isinstance(blocks[-1], Table) else None


def _head(page: Page) -> tuple[Table | None, set[str]]:
    """The table that begins a page, and remarks before it that say it goes on ("续表", "Table 3 (continued)")."""
    remarks: set[str] = set()
    for block in flow(page):
        if isinstance(block, Table):
            return block, remarks
        if not isinstance(block, Caption | Paragraph | Heading) or not CONTINUED.search(block.text):
            return None, remarks
        remarks.add(block.id)
    return None, remarks


def _columns_match(first: Table, second: Table, page: int) -> tuple[dict[int, int], dict[int, int]] | None:
    """Where the columns of both parts go in the joined table; None when their geometry does not agree."""
    last = first.regions[-1].page
    mine, theirs = _edges(first, last), _edges(second, page)
    if len(mine) < first.columns or len(theirs) < second.columns:
        # Cells without places: the outer edges and the number of columns must do.
        same = first.columns == second.columns and _outer(first.regions[-1].box, place(second, page))
        straight = {column: column for column in range(first.columns)}
        return (straight, straight) if same else None
    if first.columns >= second.columns:
        found = _mapped(theirs, mine)
        return None if found is None else ({column: column for column in range(first.columns)}, found)
    found = _mapped(mine, theirs)
    return None if found is None else (found, {column: column for column in range(second.columns)})


def _outer(one: Box, other: Box) -> bool:
    return abs(one.x0 - other.x0) <= SAME_EDGE and abs(one.x1 - other.x1) <= SAME_EDGE


def _edges(table: Table, page: int) -> dict[int, tuple[float, float]]:
    """Left and right edge of every column, from the boxes of its unspanned cells on one page."""
    edges: dict[int, list[Box]] = defaultdict(list)
    for cell in table.cells:
        if cell.column_span == 1:
            edges[cell.column] += [region.box for region in cell.regions if region.page == page]
    return {
        column: (median(box.x0 for box in boxes), median(box.x1 for box in boxes))
        for column, boxes in edges.items()
        if boxes
    }


def _mapped(few: dict[int, tuple[float, float]], many: dict[int, tuple[float, float]]) -> dict[int, int] | None:
    """Columns of the narrower table to those of the wider one in the same place, in order; None when one has none."""
    found: dict[int, int] = {}
    for column, (left, right) in sorted(few.items()):
        target = max(many, key=lambda other: _shared(many[other], (left, right)))
        if _shared(many[target], (left, right)) < 0.5 or target <= max(found.values(), default=-1):
            return None
        found[column] = target
    return found


def _shared(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Overlap of two stretches as a share of the shorter one."""
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared / max(1e-6, min(one[1] - one[0], other[1] - other[0]))


def _grown(first: Table, second: Table, columns: tuple[dict[int, int], dict[int, int]]) -> Table:
    mine, theirs = columns
    dropped = _repeated_rows(first, second, theirs)
    shift = first.rows - dropped
    kept = [cell for cell in second.cells if cell.row >= dropped]
    moved = [_moved(cell, theirs, shift, header=False) for cell in kept]
    sizes = [(table.confidence, sum(len(cell.text) for cell in table.cells)) for table in (first, second)]
    return first.model_copy(
        update={
            "rows": shift + second.rows,
            "columns": max(first.columns, second.columns),
            "cells": (*(_moved(cell, mine, 0, header=cell.header) for cell in first.cells), *moved),
            "regions": (*first.regions, *second.regions),
            "lines": (*first.lines, *second.lines),
            "confidence": mean_confidence(sizes),
            "notes": tuple(dict.fromkeys((*first.notes, *second.notes, "joined_over_page"))),
        }
    )


def _moved(cell: Cell, columns: dict[int, int], rows: int, *, header: bool) -> Cell:
    start = columns.get(cell.column, cell.column)
    last = cell.column + cell.column_span - 1
    span = max(1, columns.get(last, start + cell.column_span - 1) - start + 1)
    if (start, span, rows, header) == (cell.column, cell.column_span, 0, cell.header):
        return cell
    return cell.model_copy(update={"row": cell.row + rows, "column": start, "column_span": span, "header": header})


def _repeated_rows(first: Table, second: Table, columns: dict[int, int]) -> int:
    """How many rows at the head of the second part are the header of the first, printed again."""
    heads = [cell.row + cell.row_span for cell in first.cells if cell.header]
    most = min(max(heads, default=1), MOST_HEADER_ROWS, second.rows - 1, first.rows - 1)
    # Where no row is marked as a header, a first row that comes again in its own part is data.
    if not heads and any(
        _row_words(first, 0, 1, {}) == _row_words(first, row, row + 1, {}) for row in range(1, first.rows)
    ):
        return 0
    for count in range(most, 0, -1):
        before = _row_words(first, 0, count, {})
        after = _row_words(second, 0, count, columns)
        if before and fuzz.ratio(before, after) >= HEADER_ALIKE and _numbers(before) == _numbers(after):
            return count
    return 0


def _numbers(words: str) -> list[str]:
    """Digits but those inside words, which are misread letters: rows of other dates or amounts are other rows."""
    return re.findall(r"(?<![^\W\d_])\d|\d(?![^\W\d_])", words)


def _row_words(table: Table, begin: int, end: int, columns: dict[int, int]) -> str:
    cells = sorted(
        (cell.row - begin, columns.get(cell.column, cell.column), cell.text)
        for cell in table.cells
        if begin <= cell.row < end
    )
    plain = unicodedata.normalize("NFKC", "\t".join(text for _, _, text in cells)).casefold()
    return re.sub(r"[^\w\t]+", "", plain).strip()
