"""The document as one HTML page that needs nothing else: pictures inside, no script, nothing fetched.

Every word of the document is escaped and formulas pass a whitelist (`mathml.py`): no foreign markup is left.
"""

import base64
from collections.abc import Iterator
from html import escape
from typing import ClassVar, assert_never

from pageloom.contracts import ExportOptions
from pageloom.exports.grid import grid
from pageloom.exports.mathml import mathml
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
    Pictured,
    Reference,
    RunningFooter,
    RunningHeader,
    Seal,
    Signature,
    Table,
)
from pageloom.model.document import AnyPage, PagedDocument

STYLE = (
    "body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;color:#222}"
    "table{border-collapse:collapse;margin:1rem 0}td,th{border:1px solid #999;padding:.2rem .5rem;vertical-align:top}"
    "th{background:#eee}img{max-width:100%}pre{background:#f5f5f5;padding:.6rem;overflow:auto}"
    ".caption,.footnote,.running_header,.running_footer,.page_number{font-size:.85rem;color:#555}"
    ".failed{border-left:4px solid #b00;padding-left:.6rem}.page{border-top:1px solid #ddd;padding-top:1rem}"
    ".list_item{margin:.2rem 0}"
)
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
PICTURES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"RIFF", "image/webp"))


class HtmlExporter(OneFile):
    """Writes a self-contained page."""

    name: ClassVar[str] = "html"
    media_type: ClassVar[str] = "text/html; charset=utf-8"

    def chunks(self, document: PagedDocument, options: ExportOptions) -> Iterator[bytes]:
        """Head, a section for every page, foot."""
        title = words(document.head.name) or "document"
        yield (
            f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
            f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n"
        ).encode()
        for page in document.pages:
            yield _page(document, page, options).encode()
        yield b"</body>\n</html>\n"


def words(text: str) -> str:
    """Words as HTML text, also fit for an attribute's value."""
    return escape(one_line(text))


def _page(document: PagedDocument, page: AnyPage, options: ExportOptions) -> str:
    state = page.verdict.state
    parts = [f'<section class="page" id="page-{page.number}" data-verdict="{state}">']
    if options.page_marks:
        parts.append(f'<p class="page_number">Page {page.number}</p>')
    if page.kind == "failed_page":
        parts.append(f'<p class="failed">{words(failure(page))}</p>')
    parts += [html for block in shown(page, headers=options.headers) if (html := _block(document, block))]
    return "\n".join([*parts, "</section>\n"])


def _block(document: PagedDocument, block: Block) -> str:
    name = f'id="{words(block.id)}" class="{block.kind}"'
    match block:
        case Heading():
            return f"<h{block.level} {name}>{_lines(block.text)}</h{block.level}>"
        case Table():
            return _table(block, name)
        case Formula():
            return _formula(document, block, name)
        case Figure() | Chart() | Seal() | Signature():
            picture = _picture(document, block)
            text = f"<figcaption>{_lines(block.text)}</figcaption>" if block.text.strip() else ""
            return f"<figure {name}>{picture}{text}</figure>" if picture or text else ""
        case Code():
            return f"<pre {name}><code>{escape(clean(block.text))}</code></pre>"
        case ListItem():
            mark = "" if not block.marker or block.text.startswith(block.marker) else f"{words(block.marker)} "
            inset = 1.5 * min(block.depth, 6)
            return f'<div role="listitem" {name} style="margin-left:{inset}rem">{mark}{_lines(block.text)}</div>'
        case Paragraph() | Caption() | Footnote() | Reference() | RunningHeader() | RunningFooter() | PageNumber():
            return f"<p {name}>{_lines(block.text)}</p>" if block.text.strip() else ""
        case _:
            assert_never(block)


def _lines(text: str) -> str:
    return "<br>".join(words(line) for line in clean(text).split("\n") if line.strip())


def _table(table: Table, name: str) -> str:
    rows = []
    for row in grid(table).rows:
        cells = []
        for place in row:
            tag = "th" if place.header else "td"
            spans = f' rowspan="{place.row_span}"' if place.row_span > 1 else ""
            spans += f' colspan="{place.column_span}"' if place.column_span > 1 else ""
            cells.append(f"<{tag}{spans}>{_lines(place.text)}</{tag}>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table {name}>\n" + "\n".join(rows) + "\n</table>"


def _formula(document: PagedDocument, formula: Formula, name: str) -> str:
    made = mathml(clean(formula.latex)) if formula.latex else None
    if made:
        return f"<div {name}>{made}</div>"
    if formula.latex:
        return f"<div {name}><code>{words(formula.latex)}</code></div>"
    picture = _picture(document, formula)
    return f"<div {name}>{picture or _lines(formula.text)}</div>" if picture or formula.text.strip() else ""


def _picture(document: PagedDocument, block: Pictured) -> str:
    """The crop inside the page, with its words for those who do not see it."""
    pixels = document.asset(block.asset) if block.asset else None
    kind = next((media for magic, media in PICTURES if pixels is not None and pixels.startswith(magic)), None)
    if pixels is None or kind is None:
        return ""
    return f'<img src="data:{kind};base64,{base64.b64encode(pixels).decode()}" alt="{words(block.text) or block.kind}">'


EXPORTER = HtmlExporter()
