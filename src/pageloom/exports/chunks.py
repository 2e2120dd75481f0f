"""The document in pieces for search and retrieval, one JSON object a line.

A piece never crosses a heading; a table with its caption is one piece, however large. Every piece tells its pages, the
boxes and ids of its blocks, and the headings above it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import orjson

from pageloom.contracts import ExportOptions
from pageloom.exports.grid import grid
from pageloom.exports.json import DECIMALS
from pageloom.exports.markdown import html_table
from pageloom.exports.text import block_text
from pageloom.exports.writing import OneFile, captions, one_line, shown
from pageloom.model.blocks import Block, Caption, Heading, Table
from pageloom.model.document import AnyPage, PagedDocument
from pageloom.model.geometry import Region

# About 400 tokens of English or Chinese: small enough for embedding models, large enough to make sense alone.
LETTERS = 1200
SENTENCE = re.compile(r"(?<=[。！？；])|(?<=[.!?;])\s+")


class ChunksExporter(OneFile):
    """Writes `.chunks.jsonl`."""

    name: ClassVar[str] = "chunks"
    media_type: ClassVar[str] = "application/jsonl"
    suffix: ClassVar[str] = ".chunks.jsonl"

    def chunks(self, document: PagedDocument, options: ExportOptions) -> Iterator[bytes]:
        """A line for every piece."""
        builder = _Builder(document.head.name)
        for page in document.pages:
            yield from builder.page(page, options)
        yield from builder.flush()


@dataclass(slots=True)
class _Builder:
    """The piece in the making, and the headings above it."""

    document: str
    path: list[tuple[int, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    count: int = 0

    def page(self, page: AnyPage, options: ExportOptions) -> Iterator[bytes]:
        titles = captions(page)
        owned = {block.id for block in page.blocks if isinstance(block, Table)}
        for block in shown(page, headers=options.headers):
            if isinstance(block, Heading):
                yield from self.flush()
                self._descend(block)
            elif isinstance(block, Table):
                yield from self.flush()
                caption = one_line(titles.get(block.id, ""))
                body = html_table(grid(block)) if block.cells else ""
                yield from self._line("\n".join(part for part in (caption, body) if part), [block], "table")
            elif not (isinstance(block, Caption) and block.parent in owned):
                yield from self._add(block)

    def flush(self) -> Iterator[bytes]:
        """Let go of the piece in the making."""
        text, blocks = "\n\n".join(self.texts), self.blocks
        self.texts, self.blocks = [], []
        if text:
            yield from self._line(text, blocks, "text")

    def _add(self, block: Block) -> Iterator[bytes]:
        for part in _parts(block_text(block)):
            if self.texts and sum(map(len, self.texts)) + len(part) > LETTERS:
                yield from self.flush()
            self.texts.append(part)
            if not self.blocks or self.blocks[-1] is not block:
                self.blocks.append(block)

    def _descend(self, heading: Heading) -> None:
        self.path = [(level, text) for level, text in self.path if level < heading.level]
        self.path.append((heading.level, one_line(heading.text)))
        self.texts, self.blocks = [one_line(heading.text)], [heading]

    def _line(self, text: str, blocks: Sequence[Block], kind: str) -> Iterator[bytes]:
        if not text:
            return
        self.count += 1
        regions = list(dict.fromkeys(region for block in blocks for region in block.regions))
        piece = {
            "id": f"chunk-{self.count}",
            "document": self.document,
            "kind": kind,
            "text": text,
            "headings": [title for _, title in self.path],
            "pages": sorted({region.page for region in regions}),
            "blocks": [block.id for block in blocks],
            "regions": [_region(region) for region in regions],
        }
        yield orjson.dumps(piece) + b"\n"


def _parts(text: str) -> Iterator[str]:
    """A block's words in parts of at most some 1,200 letters, cut between sentences where there are any."""
    held = ""
    for sentence in SENTENCE.split(text) if len(text) > LETTERS else [text]:
        if held and len(held) + len(sentence) > LETTERS:
            yield held
            held = ""
        gap = " " if held and held[-1].isascii() else ""
        held += gap + sentence
    if held.strip():
        yield held


def _region(region: Region) -> dict[str, object]:
    box = region.box
    return {"page": region.page, "box": [round(side, DECIMALS) for side in (box.x0, box.y0, box.x1, box.y1)]}


EXPORTER = ChunksExporter()
