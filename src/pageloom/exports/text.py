"""The document as plain text: its words in reading order, blank lines between blocks."""

from collections.abc import Iterator
from typing import ClassVar

from pageloom.contracts import ExportOptions
from pageloom.exports.grid import grid
from pageloom.exports.writing import OneFile, clean, failure, one_line, shown
from pageloom.model.blocks import Block, Code, Formula, ListItem, Table
from pageloom.model.document import AnyPage, PagedDocument


class TextExporter(OneFile):
    """Writes plain text; table cells are parted by tabs."""

    name: ClassVar[str] = "txt"
    media_type: ClassVar[str] = "text/plain; charset=utf-8"

    def chunks(self, document: PagedDocument, options: ExportOptions) -> Iterator[bytes]:
        """A piece for every page that has something to show."""
        begun = False
        for page in document.pages:
            text = page_text(page, options)
            if text:
                yield (f"\n{text}\n" if begun else f"{text}\n").encode()
                begun = True


def page_text(page: AnyPage, options: ExportOptions) -> str:
    """One page as plain text, without a line break at its end."""
    parts = [f"[page {page.number}]"] if options.page_marks else []
    if page.kind == "failed_page":
        parts.append(f"[{failure(page)}]")
    listed = False
    for block in shown(page, headers=options.headers):
        words = block_text(block)
        if not words:
            continue
        if listed and isinstance(block, ListItem):
            parts[-1] += f"\n{words}"
        else:
            parts.append(words)
        listed = isinstance(block, ListItem)
    return "\n\n".join(parts)


def block_text(block: Block) -> str:
    """A block's words: rows of a table as lines, a list item with its marker, a formula linear or as LaTeX."""
    match block:
        case Table():
            rows = ("\t".join(one_line(place.text) for place in row) for row in grid(block).rows)
            return "\n".join(rows)
        case ListItem():
            marker, words = one_line(block.marker), one_line(block.text)
            return words if words.startswith(marker) else f"{'  ' * block.depth}{marker} {words}".rstrip()
        case Code():
            return clean(block.text).strip("\n")
        case Formula():
            return one_line(block.text or block.latex or "")
        case _:
            lines = (" ".join(line.split()) for line in clean(block.text).split("\n"))
            return "\n".join(line for line in lines if line)


EXPORTER = TextExporter()
