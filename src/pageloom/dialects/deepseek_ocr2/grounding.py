"""A model's answer to blocks, while it is being written: `parse(text)` is feed + close of `GroundedReader`."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from pageloom.contracts import Parsed
from pageloom.dialects.deepseek_ocr2.markdown import Part, formula_of, parts, plain, trimmed_runs
from pageloom.dialects.deepseek_ocr2.marks import Marks, Segment, boxes_of
from pageloom.dialects.deepseek_ocr2.tables import Grid, tables_in
from pageloom.model.blocks import (
    Block,
    Caption,
    Cell,
    Chart,
    Code,
    Confidence,
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
    TextBlock,
)
from pageloom.model.geometry import Region
from pageloom.model.identify import block_id
from pageloom.model.reading import Ask, BlockEvent, Delta

__all__ = ["GroundedReader", "boxes_of", "parse"]

KINDS: dict[str, type[TextBlock]] = {
    "image": Figure,
    "figure": Figure,
    "chart": Chart,
    "image_caption": Caption,
    "figure_caption": Caption,
    "figure_title": Caption,
    "chart_caption": Caption,
    "chart_title": Caption,
    "table_caption": Caption,
    "table_title": Caption,
    "table_footnote": Footnote,
    "image_footnote": Footnote,
    "footnote": Footnote,
    "header": RunningHeader,
    "footer": RunningFooter,
    "page_number": PageNumber,
    "number": PageNumber,
    "reference": Reference,
    "seal": Seal,
    "stamp": Seal,
    "signature": Signature,
}
"""Labels with a kind of their own; every other label is running text whose Markdown tells what it is."""

FORMULAS = frozenset({"equation", "formula", "display_formula", "interline_equation", "isolate_formula"})
CODES = frozenset({"code", "algorithm"})
TITLES = {"title": 1, "doc_title": 1, "sub_title": 2, "paragraph_title": 2}
TABLES = frozenset({"table"})
_HASHES = re.compile(r"(#{1,6})\s+")


class GroundedReader:
    """Reads one answer about page `number`; any cutting of the text gives the same blocks."""

    def __init__(self, number: int, ask: Ask | None = None) -> None:
        self._number = number
        self._locate = ask is not None and ask.task == "locate"
        self._marks = Marks()
        self._held: list[Segment] = []
        """Tables whose mark was followed by another mark: their cells come in that one's words."""
        self._blocks: list[Block] = []
        self._notes: dict[str, None] = {}
        self._progress = 0.0

    def feed(
        self,
        text: str,
        token_ids: Sequence[int] = (),  # noqa: ARG002 - the words tell all this grammar needs
        logprobs: Sequence[float] = (),
    ) -> Iterator[BlockEvent | Delta]:
        """Take a piece: blocks that ended, then the new words for watchers."""
        events: list[BlockEvent | Delta] = [*self._events(self._marks.feed(text, logprobs))]
        fresh, self._marks.fresh = "".join(self._marks.fresh), []
        for box in self._marks.current.boxes:
            self._progress = max(self._progress, box.y0)
        if fresh:
            events.append(Delta(fresh, self._progress))
        return iter(events)

    def close(self, finish: str) -> Parsed:
        """End of the answer: all blocks in reading order, with the captions' figures found."""
        for _ in self._events(self._marks.close()):
            pass
        self._release()
        self._note(*self._marks.notes)
        blocks = _captions_with_parents(self._blocks)
        cut = finish in {"length", "loop"}
        return Parsed(tuple(BlockEvent(block) for block in blocks), tuple(self._notes), truncated=cut)

    def _note(self, *notes: str) -> None:
        self._notes.update(dict.fromkeys(notes))

    def _events(self, segments: Iterable[Segment]) -> Iterator[BlockEvent]:
        for segment in segments:
            before = len(self._blocks)
            self._take(segment)
            yield from (BlockEvent(block) for block in self._blocks[before:])
            for box in segment.boxes:
                self._progress = max(self._progress, box.y1)

    def _take(self, segment: Segment) -> None:
        text = segment.text
        if self._locate and segment.label:
            self._keep(Paragraph, segment, segment.label)
            segment.label, segment.boxes = None, ()
        label = (segment.label or "").lower()
        if label in TABLES and not text.strip():
            self._held.append(segment)
            return
        if self._held:
            text = self._give_to_held(text)
        self._release()
        self._content(segment, label, text)

    def _give_to_held(self, text: str) -> str:
        """Two marks in a row: the caption's words come first, then the table's HTML, which is the held table's."""
        kept: list[str] = []
        at = 0
        for start, end in tables_in(text):
            waiting = next((held for held in self._held if not held.text.strip()), None)
            if waiting is None:
                break
            waiting.words.append(text[start:end])
            kept.append(text[at:start])
            at = end
        return "".join(kept) + text[at:]

    def _release(self) -> None:
        held, self._held = self._held, []
        for segment in held:
            if segment.text.strip():
                self._content(segment, "table", segment.text)
            else:
                self._add(Table(**self._fields(segment, ["no_content"]), rows=0, columns=0))

    def _content(self, segment: Segment, label: str, text: str) -> None:
        kind = KINDS.get(label)
        if label in FORMULAS and text.strip():
            latex, trimmed = self._trimmed(formula_of(text))
            self._add(Formula(**self._fields(segment, trimmed), text=latex, latex=latex))
        elif label in CODES:
            self._code(segment, text)
        elif label in TITLES:
            self._title(segment, text, TITLES[label])
        elif kind is not None and not text.strip():
            self._add(_made(kind, self._fields(segment), ""))
        else:
            self._mixed(segment, kind, text)

    def _code(self, segment: Segment, text: str) -> None:
        found = [part for part in parts(text) if part.kind == "code"]
        words = "\n".join(part.text for part in found) if len(found) == 1 and "```" in text else text.strip("\n")
        self._add(Code(**self._fields(segment), text=words))

    def _title(self, segment: Segment, text: str, level: int) -> None:
        """A title mark: one heading, whatever lines it has; its `#` tell the level."""
        marked = _HASHES.match(text.strip())
        lines = [_HASHES.sub("", line.strip(), count=1) for line in text.strip().split("\n")]
        words, trimmed = self._trimmed(plain("\n".join(line for line in lines if line)))
        if words:
            depth = len(marked[1]) if marked else level
            self._add(Heading(**self._fields(segment, trimmed), text=words, level=depth))

    def _mixed(self, segment: Segment, kind: type[TextBlock] | None, text: str) -> None:
        """Running text, or a labelled kind whose words hold a table or formula as well."""
        found = list(parts(text))
        if kind is not None:
            found = _joined(found)
        shared = ["box_shared"] if segment.boxes and len(found) > 1 else []
        for part in found:
            if part.kind == "table" and part.grid is not None:
                self._table(segment, part.grid, shared)
            elif kind is not None and part.kind == "paragraph":
                self._keep(kind, segment, part.text, shared)
            else:
                self._part(segment, part, shared)
        if not found and segment.boxes:
            self._add(Paragraph(**self._fields(segment, ["no_content"])))

    def _part(self, segment: Segment, part: Part, notes: list[str]) -> None:
        words, trimmed = (part.text, []) if part.kind == "code" else self._trimmed(part.text)
        fields = self._fields(segment, notes + trimmed)
        match part.kind:
            case "heading":
                self._add(Heading(**fields, text=words, level=part.level))
            case "item":
                self._add(ListItem(**fields, text=words, marker=part.marker, depth=part.depth))
            case "formula":
                self._add(Formula(**fields, text=words, latex=words))
            case "code":
                self._add(Code(**fields, text=words))
            case _:
                self._add(Paragraph(**fields, text=words))

    def _keep(self, kind: type[TextBlock], segment: Segment, text: str, notes: Sequence[str] = ()) -> None:
        words, trimmed = self._trimmed(text)
        self._add(_made(kind, self._fields(segment, [*notes, *trimmed]), words))

    def _table(self, segment: Segment, grid: Grid, notes: Sequence[str]) -> None:
        name = block_id(self._number, len(self._blocks))
        self._note(*grid.notes)
        cells = []
        for cell in grid.cells:
            words, trimmed = self._trimmed(cell.text)
            self._note(*trimmed)
            cells.append(
                Cell(
                    id=f"{name}-r{cell.row + 1}c{cell.column + 1}",
                    row=cell.row,
                    column=cell.column,
                    row_span=cell.row_span,
                    column_span=cell.column_span,
                    text=words,
                    header=cell.header,
                )
            )
        fields = self._fields(segment, [*notes, *grid.notes])
        self._add(Table(**fields, rows=grid.rows, columns=grid.columns, cells=tuple(cells)))

    def _trimmed(self, text: str) -> tuple[str, list[str]]:
        words, trimmed = trimmed_runs(text)
        return words, ["runs_trimmed"] if trimmed else []

    def _fields(self, segment: Segment, notes: Sequence[str] = ()) -> dict[str, object]:
        """What every block of a segment has; a label outside the known set is told as a note."""
        self._note(*(note for note in notes if note != "box_shared"))
        said = [*segment.notes, *notes]
        if segment.label and segment.label.lower() not in _KNOWN and len(segment.label) <= 40:
            said.append(f"label:{segment.label.lower()}")
        return {
            "id": block_id(self._number, len(self._blocks)),
            "order": len(self._blocks),
            "regions": tuple(Region(self._number, box) for box in segment.boxes),
            "confidence": confidence_of(segment.logprobs),
            "notes": tuple(dict.fromkeys(said)),
        }

    def _add(self, block: Block) -> None:
        self._blocks.append(block)


_KNOWN = frozenset(KINDS) | FORMULAS | CODES | frozenset(TITLES) | TABLES | {"text", "list", "paragraph"}


def _made(kind: type[TextBlock], fields: dict[str, object], text: str) -> Block:
    return kind(**fields, text=text)  # type: ignore[return-value]  # every value of KINDS is in the union


def _joined(found: list[Part]) -> list[Part]:
    """Parts of a caption, note or header: what is not a table or formula is one text."""
    joined: list[Part] = []
    for part in found:
        words = f"{part.marker} {part.text}".strip() if part.kind == "item" else part.text
        if part.kind in {"table", "formula", "code"}:
            joined.append(part)
        elif joined and joined[-1].kind == "paragraph":
            joined[-1] = Part("paragraph", f"{joined[-1].text}\n{words}")
        else:
            joined.append(Part("paragraph", words))
    return joined


def confidence_of(logprobs: Sequence[float]) -> Confidence:
    """Geometric mean of the token probabilities; without them, no number."""
    if not logprobs:
        return Confidence()
    return Confidence(round(math.exp(min(0.0, sum(logprobs) / len(logprobs))), 4), "logprob")


def _captions_with_parents(blocks: Sequence[Block]) -> list[Block]:
    """Captions named after the figure or table before them, or else after them."""
    linked = list(blocks)
    for place, block in enumerate(blocks):
        if not isinstance(block, Caption | Footnote) or block.parent:
            continue
        around = [blocks[near] for near in (place - 1, place + 1) if 0 <= near < len(blocks)]
        owner = next((near for near in around if isinstance(near, Figure | Chart | Table)), None)
        if owner is not None and (isinstance(block, Caption) or isinstance(owner, Table)):
            linked[place] = block.model_copy(update={"parent": owner.id})
    return linked


def parse(text: str, number: int = 1, ask: Ask | None = None, finish: str = "stop") -> Parsed:
    """Blocks of a whole answer: feed + close. Never raises, evaluates nothing, loses no word, takes linear time."""
    reader = GroundedReader(number, ask)
    for _ in reader.feed(text):
        pass
    return reader.close(finish)
