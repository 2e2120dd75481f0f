"""Any cutting of an answer gives the same blocks, nothing raises, no word is lost."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from pageloom.dialects.deepseek_ocr2.grounding import GroundedReader, parse
from pageloom.dialects.deepseek_ocr2.tables import read_html
from pageloom.model.blocks import Table, text_of

PIECES = st.sampled_from(
    [
        "<|ref|>",
        "<|/ref|>",
        "<|det|>",
        "<|/det|>",
        "[[1, 2, 3, 4]]",
        "[[1, 2, 3",
        "text",
        "table",
        "table_caption",
        "<|ref|>text<|/ref|><|det|>[[10, 20, 300, 400]]<|/det|>\n",
        "<|ref|>table<|/ref|><|det|>[[10, 20, 300, 400]]<|/det|>\n",
        "<table><tr><td rowspan=2>",
        "</td>",
        "<td>",
        "</tr>",
        "</table>",
        "\n\n",
        "\n- ",
        "# ",
        "\\[ x \\]",
        "```\n",
        "$$",
        "| a | b |\n|---|---|\n",
        "<｜end▁of▁sentence｜>",
        "<",
        "|",
        " ",
        "word",
        "字",
        "1.",
        "......",
    ]
)
ANSWERS = st.lists(PIECES | st.text(max_size=6), max_size=30).map("".join)
WORD = re.compile(r"[^\W\d_]{4,}")


@given(ANSWERS, st.data())
@settings(max_examples=300, deadline=None)
def test_any_cutting_gives_the_same_blocks(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    reader = GroundedReader(1)
    seen = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        seen += [event for event in reader.feed(text[start:end]) if hasattr(event, "block")]
    whole, cut = parse(text), reader.close("stop")
    assert cut == whole
    assert [event.block.id for event in seen] == [event.block.id for event in whole.events[: len(seen)]]


@given(st.lists(st.from_regex(r"[a-z]{4,9}", fullmatch=True), min_size=1, max_size=12), ANSWERS)
@settings(max_examples=200, deadline=None)
def test_no_word_is_lost(words: list[str], noise: str) -> None:
    """Words in running text are all there, whatever marks stand before them."""
    text = noise + "<|/ref|><|/det|>\n\n<|ref|>text<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\n" + " ".join(words)
    read = " ".join(text_of(event.block) for event in parse(text).events)
    assert set(words) <= set(WORD.findall(read))


@given(ANSWERS)
@settings(max_examples=200, deadline=None)
def test_no_control_token_reaches_a_block(text: str) -> None:
    for event in parse(text).events:
        assert not re.search(r"<\|[^|<>\n]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>", text_of(event.block))


@given(
    st.lists(st.sampled_from(["<tr>", "<td>", "<td rowspan=3>", "<td colspan=4>", "x", "</td>", "</tr>"]), max_size=60)
)
@settings(max_examples=200, deadline=None)
def test_tables_are_grids_without_overlap(tags: list[str]) -> None:
    grid = read_html("<table>" + "".join(tags))
    seen: set[tuple[int, int]] = set()
    for cell in grid.cells:
        for row in range(cell.row, cell.row + cell.row_span):
            for column in range(cell.column, cell.column + cell.column_span):
                assert (row, column) not in seen
                assert row < grid.rows
                assert column < grid.columns
                seen.add((row, column))


@given(ANSWERS)
@settings(max_examples=100, deadline=None)
def test_every_table_block_is_valid_in_the_schema(text: str) -> None:
    for event in parse(text).events:
        if isinstance(event.block, Table):
            assert Table.model_validate(event.block.model_dump()) == event.block
