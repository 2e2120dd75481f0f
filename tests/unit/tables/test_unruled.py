"""Tables without a drawn grid: by alignment when the model is absent, by the model where it is there."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from pageloom import weights
from pageloom.errors import ModelsMissing
from pageloom.layout.tables import TableTools, find_tables
from pageloom.layout.tables.filled import whole
from pageloom.layout.tables.frame import Frame, Rect
from pageloom.layout.tables.match import matched
from pageloom.layout.tables.slanet import ModelCell, Slanet, Structure
from pageloom.model.geometry import Box

from .conftest import HEIGHT, WIDTH, Sheet, texts


@pytest.fixture
def tools(tmp_path: Path) -> TableTools:
    return TableTools(tmp_path)


def rows(sheet: Sheet, count: int, xs: tuple[int, ...], top: int = 200, pitch: int = 34) -> None:
    for r in range(count):
        for c, x in enumerate(xs):
            sheet.write(x, top + r * pitch, f"label {r}" if c == 0 else f"{r * 7 + c}.{c}")


def test_aligned_numbers_are_a_table(sheet: Sheet, tools: TableTools) -> None:
    rows(sheet, 8, (100, 320, 480, 640))
    (found,) = find_tables(sheet.vector(), [], tools)
    assert (found.block.rows, found.block.columns) == (8, 4)
    assert found.block.notes == ("table_by_alignment",)
    assert texts(found.block)[3] == ["label 3", "22.1", "23.2", "24.3"]


def test_more_than_twenty_columns_without_rules(sheet: Sheet, tools: TableTools) -> None:
    for r in range(9):
        for c in range(22):
            sheet.write(30 + 43 * c, 200 + 34 * r, str((r * 22 + c) % 90 + 10))
    (found,) = find_tables(sheet.vector(), [], tools)
    assert (found.block.rows, found.block.columns) == (9, 22)


def test_long_table_without_rules_keeps_all_rows(sheet: Sheet, tools: TableTools) -> None:
    rows(sheet, 40, (60, 260, 400, 540, 680, 820), top=20, pitch=29)
    (found,) = find_tables(sheet.vector(), [], tools)
    assert (found.block.rows, found.block.columns) == (40, 6)


def test_two_columns_between_rules_are_a_table(sheet: Sheet, tools: TableTools) -> None:
    rows(sheet, 6, (100, 500))
    sheet.rules = [(90, y, 620, y) for y in (190, 228, 405)]
    (found,) = find_tables(sheet.vector(), [], tools)
    assert (found.block.rows, found.block.columns) == (6, 2)


def test_rows_parted_by_rules_may_hold_words_only(sheet: Sheet, tools: TableTools) -> None:
    for r in range(5):
        sheet.write(100, 200 + 40 * r, f"kind {'abcde'[r]}")
        sheet.write(400, 200 + 40 * r, "garden market river")
    sheet.rules = [(90, 192 + 40 * r, 700, 192 + 40 * r) for r in range(6)]
    (found,) = find_tables(sheet.vector(), [], tools)
    assert (found.block.rows, found.block.columns) == (5, 2)


def test_columns_of_running_text_are_no_table(sheet: Sheet, tools: TableTools) -> None:
    for r in range(25):
        for x in (40, 360, 680):
            sheet.write(x, 100 + r * 30, "the story goes on and on next")
    page = sheet.vector()
    assert find_tables(page, [], tools) == []
    assert find_tables(page, [(Box(0.03, 0.07, 0.99, 0.72), 0.9)], tools) == []


def test_running_text_between_two_rules_is_no_table(sheet: Sheet, tools: TableTools) -> None:
    sheet.rules = [(90, 190, 900, 190), (90, 420, 900, 420)]
    for r in range(6):
        sheet.write(100, 200 + 34 * r, "a sentence that fills the whole width of this page and more")
    assert find_tables(sheet.vector(), [], tools) == []


def test_proposal_of_the_layout_model_without_columns_is_refused(sheet: Sheet, tools: TableTools) -> None:
    for r in range(8):
        sheet.write(100, 200 + 34 * r, "one line of a paragraph in one column only")
    assert find_tables(sheet.vector(), [(Box(0.1, 0.15, 0.6, 0.45), 0.8)], tools) == []


def test_heads_of_groups_span_their_columns(sheet: Sheet, tools: TableTools) -> None:
    sheet.write(320, 200, "first")
    sheet.write(640, 200, "second")
    for c, x in enumerate((320, 480, 640, 800)):
        sheet.write(x, 234, ("kg", "usd")[c % 2])
    sheet.write(100, 217, "item")
    for r in range(6):
        for c, x in enumerate((100, 320, 480, 640, 800)):
            sheet.write(x, 268 + 34 * r, f"name {r}" if c == 0 else f"{r}.{c}")
    (found,) = find_tables(sheet.vector(), [], tools)
    spans = {c.text: (c.row_span, c.column_span) for c in found.block.cells if c.row < 2}
    assert spans["first"] == (1, 2)
    assert spans["second"] == (1, 2)
    assert spans["item"] == (2, 1)


def test_missing_model_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(ModelsMissing, match="slanet"):
        TableTools(tmp_path).model()


def test_pieces_go_to_the_row_they_lie_in_and_the_band_they_cover(sheet: Sheet) -> None:
    cells = tuple(
        ModelCell(r, c, 1, 1, Rect(100 + 200 * c + (40 if not c else 0), 200 + 40 * r, 180 + 200 * c, 226 + 40 * r))
        for r in range(3)
        for c in range(3)
    )
    structure = Structure(3, 3, cells, 0.99, complete=True, even=True)
    rows(sheet, 3, (100, 300, 500), top=204, pitch=40)
    page = sheet.vector()
    frame = Frame(WIDTH, HEIGHT)
    pieces = [frame.piece(line, n) for n, line in enumerate(page.lines)]
    filled = matched(structure, pieces, Rect(90, 190, 700, 330), frame, 22)
    assert whole(filled)
    assert [[p.text for p in place.pieces] for place in filled.places][3] == ["label 1"]
    assert sum(len(place.pieces) for place in filled.places) == 9


@pytest.mark.models
@pytest.mark.skipif(
    "slanet_plus" in {m.name for m in weights.missing()}, reason="the structure model is not on this machine"
)
def test_model_reads_a_table_with_rules_above_and_below(sheet: Sheet) -> None:
    rows(sheet, 6, (100, 320, 480, 640))
    sheet.rules = [(90, y, 760, y) for y in (190, 228, 405)]
    tools = TableTools()
    (found,) = find_tables(sheet.scan(), [], tools)
    assert found.block.columns == 4
    assert found.block.rows == 6
    started = time.process_time()
    assert isinstance(tools.model().read(np.full((300, 400, 3), 255, np.uint8)), Structure | None)
    assert time.process_time() - started < 2
    assert os.cpu_count()
    assert isinstance(tools.model(), Slanet)
