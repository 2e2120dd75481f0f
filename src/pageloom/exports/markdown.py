"""The document as Markdown to read: one block one paragraph, blank lines between."""

import html
import re
from collections.abc import Iterator
from typing import ClassVar, assert_never
from urllib.parse import quote

from pageloom.contracts import ExportOptions
from pageloom.exports import escape
from pageloom.exports.grid import Grid, grid
from pageloom.exports.writing import OneFile, clean, failure, one_line, shown
from pageloom.model.blocks import (
    Block,
    Caption,
    Chart,
    Code,
    Figure,
    Footnote,
    Formula,
    Heading,
    ListItem,
    PageNumber,
    Paragraph,
    Reference,
    RunningFooter,
    RunningHeader,
    Seal,
    Signature,
    Table,
)
from pageloom.model.document import AnyPage, PagedDocument

NUMBER = re.compile(r"(\d{1,9})([.)])")
BULLETS = frozenset("•‣◦▪▫●○■□◆◇·∙-–—*+►▶➢❖✓")
MATHEMATICAL = re.compile(r"[=+<>^/*×÷±−∑∏∫√∞≤≥≠≈∈∂∇→\u0370-\u03ff\u2200-\u22ff]")
IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
DEEPEST = 6
# Wider than this, a pipe table's source cannot be read any more.
PIPE_COLUMNS = 12
PIPE_CELL_LETTERS = 60


class MarkdownExporter(OneFile):
    """Writes Markdown; words of the document never become markup."""

    name: ClassVar[str] = "md"
    media_type: ClassVar[str] = "text/markdown; charset=utf-8"

    def chunks(self, document: PagedDocument, options: ExportOptions) -> Iterator[bytes]:
        """A piece for every page that has something to show."""
        begun = False
        for page in document.pages:
            text = page_markdown(page, options)
            if text:
                yield (f"\n{text}\n" if begun else f"{text}\n").encode()
                begun = True


def page_markdown(page: AnyPage, options: ExportOptions) -> str:
    """One page as Markdown, without a line break at its end; empty for a page without text."""
    parts: list[str] = []
    if options.page_marks:
        parts.append(_mark(page))
    if page.kind == "failed_page":
        parts.append(f"> {escape.paragraph(failure(page))}")
    items: list[ListItem] = []
    for block in shown(page, headers=options.headers):
        if isinstance(block, ListItem):
            items.append(block)
            continue
        if items:
            parts.append(_list(items))
            items = []
        parts.append(_block(block, options))
    if items:
        parts.append(_list(items))
    return "\n\n".join(part for part in parts if part)


def _mark(page: AnyPage) -> str:
    state = page.verdict.state
    codes = ", ".join(re.sub(r"[^a-z0-9_]+", "_", reason.code.lower()) for reason in page.verdict.reasons)
    remark = "" if state == "ok" else f": {state}" + (f" ({codes})" if codes else "")
    return f"<!-- page {page.number}{remark} -->"


def _block(block: Block, options: ExportOptions) -> str:  # noqa: C901 - one branch a kind
    match block:
        case Heading():
            words = escape.heading(block.text)
            return f"{'#' * block.level} {words}" if words else ""
        case ListItem():
            return _list([block])
        case Table():
            return _table(block, options)
        case Formula():
            return _formula(block)
        case Figure() | Chart():
            return _picture(block, options)
        case Seal() | Signature():
            return f"> [{block.kind}] {escape.inline(one_line(block.text))}".rstrip()
        case Code():
            return escape.code(block.text) if block.text.strip() else ""
        case Paragraph() | Caption() | Footnote() | Reference() | RunningHeader() | RunningFooter() | PageNumber():
            return escape.paragraph(block.text)
        case _:
            assert_never(block)


def _picture(block: Figure | Chart, options: ExportOptions) -> str:
    """A picture; what is written in it is its alternative text, its caption stands in a paragraph of its own."""
    words = one_line(block.text)
    if block.asset is None:
        return escape.paragraph(words)
    alternative = escape.inline(words or block.kind).replace("[", "\\[")
    alternative = re.sub(r"(?<!\\)\]", r"\\]", alternative)
    return f"![{alternative}]({address(block.asset, options)})"


def address(asset: str, options: ExportOptions) -> str:
    """Relative address of a crop, percent-encoded."""
    folder = quote(clean(options.assets).strip("/"), safe="/.-_")
    return f"{folder}/{quote(clean(asset).replace('/', '_'), safe='.-_')}"


def _formula(block: Formula) -> str:
    if block.latex and not escape.UNSAFE_TEX.search(block.latex):
        return f"$${escape.tex(block.latex)}$$"
    words = one_line(block.latex or block.text)
    if not words:
        return ""
    ideographs = len(IDEOGRAPH.findall(words)) / len(words)
    if block.latex or not MATHEMATICAL.search(words) or ideographs > 0.3:
        return escape.paragraph(words)
    return f"$${escape.linear(words)}$$"


def _list(items: list[ListItem]) -> str:
    """Items one a line; printed numbers stay as printed, also where Markdown would count differently."""
    lines: list[str] = []
    counts: dict[int, tuple[int, str]] = {}
    depth = -1
    for item in items:
        depth = min(item.depth, depth + 1, DEEPEST)
        counts = {level: count for level, count in counts.items() if level <= depth}
        lead, words, count = _item(item, counts.get(depth))
        if count is None:
            counts.pop(depth, None)
        else:
            counts[depth] = count
        lines.append(f"{'    ' * depth}{lead} {words}".rstrip())
    return "\n".join(lines)


def _item(item: ListItem, before: tuple[int, str] | None) -> tuple[str, str, tuple[int, str] | None]:
    marker, words = one_line(item.marker), one_line(item.text)
    if marker and words.startswith(marker):
        words = words[len(marker) :].lstrip()
    words = re.sub(r"^\[(?=[ xX]\] )", r"\\[", escape.paragraph(words))
    number = NUMBER.fullmatch(marker)
    if number and (before is None or before == (int(number.group(1)) - 1, number.group(2))):
        return f"{int(number.group(1))}{number.group(2)}", words, (int(number.group(1)), number.group(2))
    if not marker or marker in BULLETS:
        return "-", words, None
    return "-", f"{escape.paragraph(marker)} {words}", None


def _table(table: Table, options: ExportOptions) -> str:
    laid = grid(table)
    if not laid.rows:
        return f"![table]({address(table.asset, options)})" if table.asset else ""
    return _pipes(laid) or html_table(laid)


def _pipes(laid: Grid) -> str:
    """A pipe table, or nothing when a cell holds what a pipe table cannot say."""
    if laid.columns > PIPE_COLUMNS or not laid.simple:
        return ""
    rows = [[place.text for place in row] for row in laid.rows]
    for text in (text for row in rows for text in row):
        if len(text) > PIPE_CELL_LETTERS or "|" in text or "$" in text or escape.paragraph(text) != text:
            return ""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * laid.columns}", *lines[1:]])


def html_table(laid: Grid) -> str:
    """A table as HTML without a blank line in it, so that Markdown leaves it alone."""
    rows: list[str] = []
    for row in laid.rows:
        cells = []
        for place in row:
            tag = "th" if place.header else "td"
            spans = f' rowspan="{place.row_span}"' if place.row_span > 1 else ""
            spans += f' colspan="{place.column_span}"' if place.column_span > 1 else ""
            cells.append(f"<{tag}{spans}>{cell_html(place.text)}</{tag}>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return "<table>\n" + "\n".join(rows) + "\n</table>"


def cell_html(text: str) -> str:
    """A cell's words as HTML: escaped, lines parted by `<br>`, several dollars not taken for mathematics."""
    lines = [html.escape(" ".join(line.split()), quote=False) for line in text.split("\n") if line.strip()]
    words = "<br>".join(lines)
    return words.replace("$", "&#36;") if words.count("$") > 1 else words


EXPORTER = MarkdownExporter()
