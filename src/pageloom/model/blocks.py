"""What stands on a page: a closed union of block kinds, with lines, words and cells."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from pageloom.model.geometry import COMPACT, Box, Region

Basis = Literal["recogniser", "logprob", "text-layer", "agreement", "rule", "none"]
Precision = Literal["exact", "line_estimate", "cell_estimate"]


@dataclass(frozen=True, slots=True, config=COMPACT)
class Confidence:
    """How far a reading can be believed: a value 0-1 (or None where nothing was measured) and what it rests on."""

    value: float | None = None
    basis: Basis = "none"


@dataclass(frozen=True, slots=True, config=COMPACT)
class Word:
    """A word (or, in scripts without spaces, a character run) of a line, with its box."""

    text: str
    box: Box
    confidence: float | None = None


@dataclass(frozen=True, slots=True, config=COMPACT)
class Line:
    """One printed line.

    Attributes:
        id: unique in the document, the same in a second run.
        page: number of the page it stands on, from 1.
        box: upright box around the line, page fractions.
        precision: how the box was found: measured, or estimated from its block or cell.
    """

    id: str
    text: str
    page: int
    box: Box
    confidence: Confidence = Confidence()
    words: tuple[Word, ...] = ()
    precision: Precision = "exact"


class Kept(BaseModel):
    """Base of all that is kept or sent: frozen, and a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Edit(Kept):
    """A correction made by a person (part 8 writes it; the schema has its place already)."""

    by: str
    at: str
    before: str


class Cell(Kept):
    """A table cell. Rows and columns count from 0; spans are at least 1."""

    id: str
    row: int = Field(ge=0)
    column: int = Field(ge=0)
    row_span: int = Field(default=1, ge=1)
    column_span: int = Field(default=1, ge=1)
    text: str = ""
    header: bool = False
    regions: tuple[Region, ...] = ()
    lines: tuple[Line, ...] = ()
    confidence: Confidence = Confidence()
    edited: Edit | None = None


class BlockFields(Kept):
    """What every block has.

    Attributes:
        id: unique in the document, the same in a second run on the same reading, kept by assembly.
        regions: where it stands; more than one when it is cut by a column or page break.
        order: place in the reading order of its page, from 0.
        parent: id of the block it belongs to (a caption's figure, a list item's list head), or None.
        notes: machine-readable remarks, e.g. `runs_trimmed`, `not_in_text_layer`.
        language: BCP 47 tag where it is known, e.g. `zh-Hans`.
    """

    id: str
    regions: tuple[Region, ...]
    order: int = Field(default=0, ge=0)
    parent: str | None = None
    lines: tuple[Line, ...] = ()
    confidence: Confidence = Confidence()
    notes: tuple[str, ...] = ()
    language: str | None = None
    edited: Edit | None = None


class TextBlock(BlockFields):
    """A block whose content is running text."""

    text: str = ""


class Heading(TextBlock):
    """A title or section heading; level 1 is the document's title or chapter."""

    kind: Literal["heading"] = "heading"
    level: int = Field(default=1, ge=1, le=6)


class Paragraph(TextBlock):
    """Running text."""

    kind: Literal["paragraph"] = "paragraph"


class ListItem(TextBlock):
    """One item of a list; `marker` as printed ("1.", "•"), `depth` from 0."""

    kind: Literal["list_item"] = "list_item"
    marker: str = ""
    depth: int = Field(default=0, ge=0)


class Caption(TextBlock):
    """The caption of a figure, chart or table (`parent`)."""

    kind: Literal["caption"] = "caption"


class Footnote(TextBlock):
    """A note at the foot of a page or table."""

    kind: Literal["footnote"] = "footnote"


class Reference(TextBlock):
    """One entry of a bibliography."""

    kind: Literal["reference"] = "reference"


class Code(TextBlock):
    """Program text; line breaks and indentation are kept."""

    kind: Literal["code"] = "code"


class RunningHeader(TextBlock):
    """A line repeated at the head of pages."""

    kind: Literal["running_header"] = "running_header"


class RunningFooter(TextBlock):
    """A line repeated at the foot of pages."""

    kind: Literal["running_footer"] = "running_footer"


class PageNumber(TextBlock):
    """The printed page number."""

    kind: Literal["page_number"] = "page_number"


class Formula(TextBlock):
    """A displayed formula: `latex` where a reader gives it, else its linear text and a crop."""

    kind: Literal["formula"] = "formula"
    latex: str | None = None
    asset: str | None = None


class Table(BlockFields):
    """A table; every cell keeps its spans, its place and its lines."""

    kind: Literal["table"] = "table"
    rows: int = Field(ge=0)
    columns: int = Field(ge=0)
    cells: tuple[Cell, ...] = ()
    asset: str | None = None


class Figure(TextBlock):
    """A picture; `text` is what is written inside it, `asset` the name of its crop."""

    kind: Literal["figure"] = "figure"
    asset: str | None = None


class Chart(TextBlock):
    """A diagram of numbers; like a figure."""

    kind: Literal["chart"] = "chart"
    asset: str | None = None


class Seal(TextBlock):
    """A seal or stamp; its text is kept apart from the running text."""

    kind: Literal["seal"] = "seal"
    asset: str | None = None


class Signature(TextBlock):
    """Ink in a signature zone."""

    kind: Literal["signature"] = "signature"
    asset: str | None = None


Block = Annotated[
    Heading
    | Paragraph
    | ListItem
    | Table
    | Formula
    | Figure
    | Chart
    | Caption
    | Footnote
    | RunningHeader
    | RunningFooter
    | PageNumber
    | Code
    | Seal
    | Signature
    | Reference,
    Field(discriminator="kind"),
]

Furniture = RunningHeader | RunningFooter | PageNumber
Pictured = Figure | Chart | Seal | Signature | Formula


def box_on(block: BlockFields, page: int) -> Box | None:
    """The box around a block's regions on one page, or None when it has none there."""
    boxes = [region.box for region in block.regions if region.page == page]
    return Box.around(boxes) if boxes else None


def text_of(block: Block) -> str:
    """A block's words without any markup; table cells are parted by tabs, rows by line breaks."""
    if not isinstance(block, Table):
        return block.text
    rows: dict[int, list[str]] = {}
    for cell in block.cells:
        rows.setdefault(cell.row, []).append(cell.text)
    return "\n".join("\t".join(texts) for _, texts in sorted(rows.items()))
