"""Tables as an Excel workbook, a sheet a table; every cell is text, so nothing is computed and no number is rounded."""

import io
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from pageloom.contracts import ExportOptions
from pageloom.exports.csv import tables
from pageloom.exports.grid import grid
from pageloom.exports.writing import OneFile
from pageloom.model.blocks import Table
from pageloom.model.document import PagedDocument

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

# More sheets than this no one can find their way in; further tables stand below each other on the last one.
MOST_SHEETS = 200
MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 1_048_576, 16_384, 32_767  # Excel's own limits
EPOCH = (1980, 1, 1, 0, 0, 0)  # the zip format's first day: same document, same bytes


class XlsxExporter(OneFile):
    """Writes a workbook; the text of all tables is held until it is whole."""

    name: ClassVar[str] = "xlsx"
    media_type: ClassVar[str] = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

    def chunks(
        self,
        document: PagedDocument,
        options: ExportOptions,  # noqa: ARG002 - tables have no running headers
    ) -> Iterator[bytes]:
        """One piece: a workbook is a zip file."""
        from openpyxl import Workbook

        book = Workbook()
        sheet = book.active or book.create_sheet()
        sheet.title = "No tables"
        below = 0
        for place, (number, table) in enumerate(tables(document), 1):
            if place == 1:
                sheet.title = f"Table 1 (page {number})"
            elif place <= MOST_SHEETS:
                sheet, below = book.create_sheet(f"Table {place} (page {number})"), 0
            below = _write(sheet, table, below)
        yield _settled(book)


def _write(sheet: "Worksheet", table: Table, below: int) -> int:
    """Write a table under what is there; returns the next free row (from 0), one row left empty."""
    from openpyxl.styles import Font

    laid = grid(table)
    for row, places in enumerate(laid.rows, below + 1):
        for place in places:
            if row > MOST_ROWS or place.column >= MOST_COLUMNS:
                continue
            cell = sheet.cell(row, place.column + 1)
            cell.value = place.text[:MOST_LETTERS]
            cell.data_type = "s"
            cell.quotePrefix = True
            if place.header:
                cell.font = Font(bold=True)
            if place.row_span > 1 or place.column_span > 1:
                last_row, last_column = row + place.row_span - 1, place.column + place.column_span
                sheet.merge_cells(None, row, place.column + 1, min(last_row, MOST_ROWS), min(last_column, MOST_COLUMNS))
    return below + len(laid.rows) + 1


def _settled(book: "Workbook") -> bytes:
    """The workbook's bytes without any time of writing."""
    first, second = io.BytesIO(), io.BytesIO()
    book.save(first)
    with zipfile.ZipFile(first) as made, zipfile.ZipFile(second, "w", zipfile.ZIP_DEFLATED) as settled:
        for name in sorted(made.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            # Names only who wrote it and when; a workbook needs neither.
            body = _PROPERTIES if name == "docProps/core.xml" else made.read(name)
            settled.writestr(zipfile.ZipInfo(name, EPOCH), body, zipfile.ZIP_DEFLATED)
    return second.getvalue()


_PROPERTIES = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<cp:coreProperties '
    b'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    b'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>Pageloom</dc:creator></cp:coreProperties>'
)

EXPORTER = XlsxExporter()
