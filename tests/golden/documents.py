# ruff: noqa: ANN401 - blocks of any kind are made here
"""Documents made for tests: small ones by hand, hostile ones by hypothesis."""

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from hypothesis import strategies as st

from pageloom.model.blocks import (
    Block,
    Cell,
    Chart,
    Confidence,
    Figure,
    Formula,
    Heading,
    Line,
    ListItem,
    Paragraph,
    Seal,
    Signature,
    Table,
)
from pageloom.model.document import AnyPage, DocumentHead, FailedPage, Page, Reason, Verdict
from pageloom.model.geometry import Box, PageSize, Region

A4 = PageSize(595.0, 842.0)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8ffff3f0005fe02fe"
    "dccc59e70000000049454e44ae426082"
)


class Made:
    """A document held in memory; counts how often its pages are walked."""

    def __init__(self, pages: Iterable[AnyPage], name: str = "made.pdf") -> None:
        self._pages = tuple(pages)
        self.head = DocumentHead(name=name, page_count=len(self._pages), made_by="pageloom test")
        self.walks = 0

    @property
    def pages(self) -> Iterator[AnyPage]:
        self.walks += 1
        return iter(self._pages)

    def asset(self, name: str) -> bytes | None:
        return PNG if name.endswith(".png") else None


def page(*blocks: Block, number: int = 1, verdict: Verdict | None = None) -> Page:
    return Page(number=number, size=A4, blocks=blocks, verdict=verdict or Verdict())


def block(kind: type[Any], text: str = "", number: int = 1, **more: Any) -> Any:
    """A block with one line, its box given as `box=(x0, y0, x1, y1)`."""
    box = Box(*more.pop("box", (0.1, 0.1, 0.9, 0.12)))
    name = more.pop("id", f"p{number}-b1")
    line = Line(f"{name}-l1", text, number, box, Confidence(0.99, "recogniser"))
    if kind is not Table:
        more["text"] = text
        more.setdefault("lines", (line,) if text else ())
    return kind(id=name, regions=(Region(number, box),), **more)


def paragraph(*lines: str, number: int = 1, box: tuple[float, float, float, float], name: str = "", **more: Any) -> Any:
    """A paragraph of printed lines that fill its box from top to bottom; `widths` shortens lines (share 0-1)."""
    kind = more.pop("kind", Paragraph)
    widths = more.pop("widths", [1.0] * len(lines))
    x0, y0, x1, y1 = box
    step = (y1 - y0) / len(lines)
    name = name or f"p{number}-b1"
    made = tuple(
        Line(
            f"{name}-l{place + 1}",
            text,
            number,
            Box(x0, y0 + place * step, x0 + (x1 - x0) * widths[place], y0 + (place + 1) * step),
            Confidence(0.99, "recogniser"),
        )
        for place, text in enumerate(lines)
    )
    cjk = any("\u3400" <= sign <= "\u9fff" for sign in lines[0])
    text = more.pop("text", ("" if cjk else " ").join(lines))
    return kind(id=name, regions=(Region(number, Box(*box)),), lines=made, text=text, **more)


def table(rows: list[list[str]], number: int = 1, name: str = "", **more: Any) -> Table:
    """A table without spans; cells get boxes that divide the table's evenly."""
    x0, y0, x1, y1 = more.pop("box", (0.1, 0.2, 0.9, 0.8))
    headers = more.pop("headers", 0)
    name = name or f"p{number}-b1"
    columns = max(map(len, rows))
    wide, high = (x1 - x0) / columns, (y1 - y0) / len(rows)
    cells = tuple(
        Cell(
            id=f"{name}-r{row + 1}c{column + 1}",
            row=row,
            column=column,
            text=text,
            header=row < headers,
            regions=(
                Region(
                    number,
                    Box(x0 + column * wide, y0 + row * high, x0 + (column + 1) * wide - 0.01, y0 + (row + 1) * high),
                ),
            ),
        )
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    )
    return Table(
        id=name, regions=(Region(number, Box(x0, y0, x1, y1)),), rows=len(rows), columns=columns, cells=cells, **more
    )


# --- hostile documents ---------------------------------------------------------------------------------------------

NASTY = (
    "<script>alert(1)</script>",
    "</table></td><td>",
    "[x](javascript:alert(1))",
    "![](http://evil.example/p.png)",
    "[ref]: http://evil.example",
    "# heading",
    "- item",
    "1. first",
    "> quote",
    "```",
    "~~~",
    "| a | b |",
    "|---|---|",
    "---",
    "===",
    "$$x$$",
    r"\(x^2\)",
    r"\(\href{javascript:1}{x}\)",
    "&lt;b&gt;",
    "&#60;",
    "a*b*c",
    "__init__",
    "~~gone~~",
    "<!-- -->",
    "]]>",
    "=1+1",
    "@SUM(A1)",
    "\ttab",
    "line\nbreak",
    "two\n\nparts",
    "back\\slash",
    "\\",
    "`code`",
    "    indented",
    "中文，全角。",
    "\u202eabc",
    "\x00\x07\x1b[31m",
    "\ufffe\uffff",
    "<｜end▁of▁sentence｜>",
    "www.example.org",
    "a" * 300,
)
texts = st.lists(
    st.one_of(st.sampled_from(NASTY), st.text(max_size=12, alphabet=st.characters(exclude_categories=("Cs",)))),
    max_size=4,
).map(" ".join)
boxes = st.tuples(*[st.floats(0, 1, allow_nan=False)] * 4).map(
    lambda sides: Box(
        min(sides[0], sides[2]), min(sides[1], sides[3]), max(sides[0], sides[2]), max(sides[1], sides[3])
    )
)
names = st.one_of(st.none(), st.sampled_from(["a.png", "../../etc/passwd", "x y(1).png", "<b>.png", '"onload=".png']))


@st.composite
def blocks(draw: Any, number: int, place: int) -> Block:
    kind = draw(st.sampled_from(get_args(get_args(Block)[0])))
    name = f"p{number}-b{place + 1}"
    shared: dict[str, Any] = {
        "id": name,
        "regions": tuple(Region(number, box) for box in draw(st.lists(boxes, max_size=2))),
        "order": place,
        "parent": draw(st.one_of(st.none(), st.integers(1, 5).map(lambda other: f"p{number}-b{other}"))),
    }
    if kind is Table:
        spots = draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=8, unique=True))
        cells = tuple(
            Cell(
                id=f"{name}-r{row + 1}c{column + 1}",
                row=row,
                column=column,
                row_span=draw(st.sampled_from([1, 1, 2, 99999])),
                column_span=draw(st.sampled_from([1, 1, 3, 99999])),
                text=draw(texts),
                header=draw(st.booleans()),
            )
            for row, column in spots
        )
        return Table(rows=draw(st.integers(0, 9)), columns=draw(st.integers(0, 9)), cells=cells, **shared)
    shared["text"] = draw(texts)
    if kind is Heading:
        shared["level"] = draw(st.integers(1, 6))
    if kind is ListItem:
        shared |= {
            "marker": draw(st.sampled_from(["", "•", "1.", "7)", "(a)", "<b>"])),
            "depth": draw(st.integers(0, 9)),
        }
    if kind is Formula:
        shared["latex"] = draw(st.one_of(st.none(), texts))
    if kind in (Figure, Chart, Seal, Signature, Formula):
        shared["asset"] = draw(names)
    made: Block = kind(**shared)
    return made


@st.composite
def pages(draw: Any, number: int) -> AnyPage:
    if draw(st.integers(0, 5)) == 0:
        return FailedPage(number=number, code="internal", reason=draw(texts))
    count = draw(st.integers(0, 5))
    made = tuple(draw(blocks(number, place)) for place in range(count))
    reasons = (Reason(code="low_score --> <b>", text=draw(texts)),)
    return Page(number=number, size=A4, blocks=made, verdict=Verdict(state="suspect", reasons=reasons))


@st.composite
def documents(draw: Any) -> Made:
    """Any document a reader could make of a hostile file."""
    made = tuple(draw(pages(number)) for number in range(1, draw(st.integers(0, 3)) + 1))
    return Made(made, name=draw(st.sampled_from(["a.pdf", "<script>.pdf", "名 & '\".pdf"])))
