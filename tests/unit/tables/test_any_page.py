"""Whatever stands on a page: no exception, no overlapping cells, no word lost inside a table."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pageloom.layout.page import LayoutPage
from pageloom.layout.tables import TableTools, study
from pageloom.model.blocks import Confidence
from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import Ruling, TextLine

STEPS = st.integers(0, 24)
WORDS = st.sampled_from(["12.5", "alpha", "合计", "a long sentence that goes on and on", "$", "7", "x y", " "])


@st.composite
def lines(draw: st.DrawFn) -> TextLine:
    x, y, wide = draw(STEPS) / 26, draw(STEPS) / 26, draw(st.integers(1, 8)) / 26
    return TextLine(draw(WORDS), Box(x, y, min(1.0, x + wide), y + 0.02), Confidence(0.9, "recogniser"))


@st.composite
def rulings(draw: st.DrawFn) -> Ruling:
    a, b, at = draw(STEPS) / 25, draw(STEPS) / 25, draw(STEPS) / 25
    return Ruling(a, at, b, at) if draw(st.booleans()) else Ruling(at, a, at, b)


@settings(max_examples=50, deadline=None)
@given(st.lists(lines(), max_size=40), st.lists(rulings(), max_size=25), st.booleans())
def test_cells_never_overlap_and_words_are_kept(several: list[TextLine], rules: list[Ruling], proposed: bool) -> None:
    page = LayoutPage(1, PageSize(500, 700), tuple(several), rulings=tuple(rules), basis="text-layer")
    regions = [(Box(0.0, 0.0, 1.0, 1.0), 0.9)] if proposed else []
    for found in study(page, regions, TableTools(Path("/nowhere"))).tables:
        places = [
            (r, c)
            for cell in found.block.cells
            for r in range(cell.row, cell.row + cell.row_span)
            for c in range(cell.column, cell.column + cell.column_span)
        ]
        assert len(places) == len(set(places)) == found.block.rows * found.block.columns
        written = "".join(cell.text for cell in found.block.cells).replace(" ", "")
        wanted = "".join(page.lines[n].text for n in found.line_indices).replace(" ", "")
        assert sorted(written) == sorted(wanted)
