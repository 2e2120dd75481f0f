"""Tables as CSV: all of them in one file, and each in its own where there are several.

A cell that a spreadsheet would take for a formula gets an apostrophe before it; plain numbers stay numbers.
"""

import csv
import io
import re
from collections.abc import Iterator
from typing import ClassVar

from pageloom.contracts import Bundle, ExportOptions, OutputFile
from pageloom.exports.grid import grid
from pageloom.exports.writing import clean
from pageloom.model.blocks import Table
from pageloom.model.document import PagedDocument
from pageloom.model.extraction import Extraction

# Excel takes a file without this mark for the local code page and garbles Chinese.
MARK = b"\xef\xbb\xbf"
FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
NUMBER = re.compile(r"[+\-]?\d[\d.,' \u00a0]*%?")


class CsvExporter:
    """Writes `.csv` with all tables, parted by empty lines; of several tables also `.tables/table-1.csv` ..."""

    name: ClassVar[str] = "csv"
    media_type: ClassVar[str] = "text/csv; charset=utf-8"

    def export(
        self,
        document: PagedDocument,
        options: ExportOptions,  # noqa: ARG002 - tables have no running headers
        extraction: Extraction | None = None,  # noqa: ARG002 - the door's shape
    ) -> Bundle:
        """The pages are walked once to count the tables; their CSV is made then, so the text of all is held."""
        made = [rows_csv(table) for _, table in tables(document)]
        files = [OutputFile(".csv", _all(made))]
        if len(made) > 1:
            files += [OutputFile(f".tables/table-{place}.csv", (MARK, one)) for place, one in enumerate(made, 1)]
        return Bundle(tuple(files))


def tables(document: PagedDocument) -> Iterator[tuple[int, Table]]:
    """All tables in order, each with the number of the page where it begins."""
    for page in document.pages:
        yield from ((page.number, block) for block in page.blocks if isinstance(block, Table))


def rows_csv(table: Table) -> bytes:
    """A table as CSV (RFC 4180): a span's words stand in its first cell, its other cells are empty."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerows([harmless(text) for text in row] for row in cells_of(table))
    return lines.getvalue().encode()


def cells_of(table: Table) -> list[list[str]]:
    """Words of a table as a rectangle."""
    laid = grid(table)
    rows = [[""] * laid.columns for _ in laid.rows]
    for row, places in zip(rows, laid.rows, strict=True):
        for place in places:
            row[place.column] = place.text
    return rows


def harmless(text: str) -> str:
    """A cell's words that no spreadsheet takes for a formula; plain numbers such as -12.50 are left alone."""
    words = clean(text)
    return f"'{words}" if FORMULA.match(words) and not NUMBER.fullmatch(words) else words


def _all(made: list[bytes]) -> Iterator[bytes]:
    yield MARK
    for place, one in enumerate(made):
        yield b"\r\n" + one if place else one


EXPORTER = CsvExporter()
