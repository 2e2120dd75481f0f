"""Drawn grids give exact cells, spans and texts, from vectors and from pixels."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from pageloom.layout.page import LayoutPage
from pageloom.layout.tables import TableTools, find_forms, find_tables
from pageloom.model.blocks import Confidence
from pageloom.model.geometry import Box
from pageloom.model.image import TextLine

from .conftest import HEIGHT, WIDTH, Sheet, texts

XS, YS = (100, 340, 560, 780), (200, 250, 300, 350, 400)


@pytest.fixture
def tools(tmp_path: Path) -> TableTools:
    """Without the model's file: rules and alignment must do."""
    return TableTools(tmp_path)


def filled(sheet: Sheet) -> Sheet:
    sheet.grid(XS, YS)
    for r, y in enumerate(YS[:-1]):
        for c, x in enumerate(XS[:-1]):
            sheet.write(x + 12, y + 14, f"{'abc'[c]}{r}.{r * 3 + c}")
    return sheet


def plain(rgb: np.ndarray) -> np.ndarray:
    return rgb


def tilted(rgb: np.ndarray) -> np.ndarray:
    turn = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 4), 0.4, 1)
    return cv2.warpAffine(rgb, turn, (WIDTH, HEIGHT), borderValue=(250, 250, 250))


def grainy(rgb: np.ndarray) -> np.ndarray:
    grain = np.random.default_rng(3).normal(0, 9, rgb.shape)
    return np.clip(cv2.GaussianBlur(rgb, (0, 0), 0.8) + grain, 0, 255).astype(np.uint8)


def broken(rgb: np.ndarray) -> np.ndarray:
    rgb = rgb.copy()
    for x in range(180, WIDTH, 97):
        rgb[:, x : x + 4] = 250
    return rgb


@pytest.mark.parametrize("change", [plain, tilted, grainy, broken])
def test_drawn_grid_of_a_scan_gives_every_cell(
    sheet: Sheet, tools: TableTools, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    (found,) = find_tables(filled(sheet).scan(change), [], tools)
    assert texts(found.block) == [[f"{'abc'[c]}{r}.{r * 3 + c}" for c in range(3)] for r in range(4)]
    assert found.line_indices == frozenset(range(12))


def test_vector_rulings_give_the_same_table(sheet: Sheet, tools: TableTools) -> None:
    (found,) = find_tables(filled(sheet).vector(), [], tools)
    assert (found.block.rows, found.block.columns) == (4, 3)
    assert found.block.notes == ("table_by_rules",)


def test_every_cell_has_its_place_and_its_lines(sheet: Sheet, tools: TableTools) -> None:
    (found,) = find_tables(filled(sheet).vector(), [], tools)
    cell = next(c for c in found.block.cells if c.text == "b2.7")
    (region,) = cell.regions
    assert region.box.x0 == pytest.approx(340 / WIDTH, abs=0.002)
    assert region.box.y1 == pytest.approx(350 / HEIGHT, abs=0.002)
    assert cell.lines[0].box.covered_by(region.box) == pytest.approx(1)
    assert cell.confidence.value == pytest.approx(0.99)


def test_missing_pieces_of_rule_make_spans(sheet: Sheet, tools: TableTools) -> None:
    xs, ys = (100, 260, 420, 580, 740), (200, 250, 300, 350)
    sheet.rules = [(100, y, 740, y) for y in (200, 300, 350)] + [(260, 250, 740, 250)]
    sheet.rules += [(x, 200, x, 350) for x in (100, 260, 580, 740)] + [(420, 250, 420, 350)]
    sheet.write(120, 240, "fruit")
    sheet.write(280, 212, "year 1")
    sheet.write(600, 212, "change")
    for x, text in zip(xs[1:], ("t", "price", "%"), strict=False):
        sheet.write(x + 12, 262, text)
    for x, text in zip(xs, ("lychee", "112", "18", "-12"), strict=False):
        sheet.write(x + 12, 312, text)
    assert ys[-1] == 350
    (found,) = find_tables(sheet.vector(), [], tools)
    spans = {c.text: (c.row_span, c.column_span) for c in found.block.cells}
    assert spans["fruit"] == (2, 1)
    assert spans["year 1"] == (1, 2)
    assert spans["lychee"] == (1, 1)
    headers = {c.text for c in found.block.cells if c.header}
    assert headers == {"fruit", "year 1", "change", "t", "price", "%"}


def test_line_over_a_border_is_cut_by_its_words(sheet: Sheet, tools: TableTools) -> None:
    sheet.grid((100, 300, 500, 700), YS)
    for y in YS[1:-1]:
        for x in (110, 310, 510):
            sheet.write(x, y + 14, "7.5")
    sheet.write(222, 214, "supply river garden")
    (found,) = find_tables(sheet.vector(), [], tools)
    assert texts(found.block)[0] == ["supply", "river garden", ""]


def test_empty_columns_are_kept(sheet: Sheet, tools: TableTools) -> None:
    sheet.grid((100, 200, 300, 400, 500), YS)
    for r, y in enumerate(YS[:-1]):
        sheet.write(110, y + 14, f"n{r}")
        sheet.write(310, y + 14, f"{r}.5")
    (found,) = find_tables(sheet.vector(), [], tools)
    assert found.block.columns == 4
    assert texts(found.block)[2] == ["n2", "", "2.5", ""]


def test_wide_table_keeps_all_its_columns(sheet: Sheet, tools: TableTools) -> None:
    xs = tuple(range(40, 971, 42))
    sheet.grid(xs, YS)
    for r, y in enumerate(YS[:-1]):
        for c, x in enumerate(xs[:-1]):
            if (r + c) % 3:
                sheet.write(x + 6, y + 14, str(r * 22 + c))
    (found,) = find_tables(sheet.scan(), [], tools)
    assert (found.block.rows, found.block.columns) == (4, 22)


def test_chinese_lines_of_a_cell_are_joined_without_a_space(sheet: Sheet, tools: TableTools) -> None:
    sheet.grid(XS, (200, 280, 330, 380))
    sheet.write(112, 210, "以公允价值计量")
    sheet.write(112, 240, "的金融资产")
    sheet.write(352, 210, "hydro-")
    sheet.write(352, 240, "gen gas")
    for y in (294, 344):
        for x in XS[:-1]:
            sheet.write(x + 12, y, "1.0")
    (found,) = find_tables(sheet.vector(), [], tools)
    assert texts(found.block)[0] == ["以公允价值计量的金融资产", "hydrogen gas", ""]


def test_open_sides_are_closed(sheet: Sheet, tools: TableTools) -> None:
    sheet = filled(sheet)
    sheet.rules = [rule for rule in sheet.rules if not (rule[0] == rule[2] and rule[0] in (XS[0], XS[-1]))]
    (found,) = find_tables(sheet.vector(), [], tools)
    assert found.block.columns == 3


def test_lines_of_a_notebook_do_not_widen_the_table(sheet: Sheet, tools: TableTools) -> None:
    sheet = filled(sheet)
    sheet.rules += [(XS[-1], y, 960, y) for y in YS]
    (found,) = find_tables(sheet.vector(), [], tools)
    assert found.block.columns == 3


def test_boxes_side_by_side_are_a_form(sheet: Sheet, tools: TableTools) -> None:
    sheet.grid((100, 500, 900), (200, 330))
    for n, text in enumerate(("Buyer", "Name: Cloud Ltd", "Tax number: 9133")):
        sheet.write(110, 210 + 35 * n, text)
        sheet.write(510, 210 + 35 * n, text)
    page = sheet.vector()
    assert find_tables(page, [], tools) == []
    (form,) = find_forms(page, tools)
    assert form.groups == ((0, 2, 4), (1, 3, 5))


def test_grid_without_words_is_no_table(sheet: Sheet, tools: TableTools) -> None:
    sheet.grid(XS, YS)
    sheet.write(100, 500, "What fraction of the cake remains?")
    assert find_tables(sheet.vector(), [], tools) == []


def test_page_without_anything_has_none(tools: TableTools) -> None:
    assert find_tables(LayoutPage(1, Sheet().vector().size, ()), [], tools) == []


def test_word_over_a_border_is_read_again_cell_by_cell(sheet: Sheet, tools: TableTools) -> None:
    sheet.grid(XS, YS)
    for y in YS[1:-1]:
        for x in XS[:-1]:
            sheet.write(x + 12, y + 14, "7.5")
    sheet.write(280, 214, "76591245")
    asked: list[Box] = []

    def reread(box: Box, turn: int) -> list[TextLine]:
        assert turn == 0
        asked.append(box)
        return [TextLine("76.5" if box.x0 < 0.3 else "91.2", box, Confidence(0.97, "recogniser"))]

    (found,) = find_tables(replace(sheet.vector(), reread=reread), [], tools)
    assert texts(found.block)[0] == ["76.5", "91.2", ""]
    assert len(asked) == 2
    assert all(box.height < 0.04 for box in asked)
    assert 9 in found.line_indices
