"""A table printed sideways is read upright and keeps its place on the page."""

from dataclasses import replace
from pathlib import Path

import pytest

from pageloom.layout.page import LayoutPage
from pageloom.layout.tables import TableTools, find_tables
from pageloom.layout.tables.sideways import BACK, turned_view
from pageloom.model.geometry import PageSize

from .conftest import Sheet, texts


def turned(page: LayoutPage, angle: int) -> LayoutPage:
    """The page as it looks when its table was printed sideways."""
    back = BACK[angle]
    lines = tuple(
        replace(
            line,
            box=back.box(line.box),
            angle=float(angle),
            words=tuple(replace(w, box=back.box(w.box)) for w in line.words),
        )
        for line in page.lines
    )
    corners = [(*back.point(r.x0, r.y0), *back.point(r.x1, r.y1)) for r in page.rulings]
    rulings = tuple(
        replace(r, x0=min(a, c), y0=min(b, d), x1=max(a, c), y1=max(b, d))
        for r, (a, b, c, d) in zip(page.rulings, corners, strict=True)
    )
    return replace(page, size=PageSize(page.size.height, page.size.width), lines=lines, rulings=rulings)


@pytest.mark.parametrize("angle", [90, 270])
def test_sideways_table_is_read_upright(sheet: Sheet, tmp_path: Path, angle: int) -> None:
    sheet.grid((100, 340, 560, 780), (200, 250, 300, 350, 400))
    for r in range(4):
        for c, x in enumerate((112, 352, 572)):
            sheet.write(x, 214 + 50 * r, f"{'abc'[c]}{r}")
    page = turned(sheet.vector(), angle)
    (found,) = find_tables(page, [], TableTools(tmp_path))
    assert texts(found.block) == [[f"{'abc'[c]}{r}" for c in range(3)] for r in range(4)]
    assert found.line_indices == frozenset(range(12))
    cell = found.block.cells[0]
    assert page.lines[0].box.covered_by(cell.regions[0].box) == pytest.approx(1)
    assert f"turned_{angle}" in found.block.notes


def test_upright_lines_need_no_turn(sheet: Sheet) -> None:
    for n in range(12):
        sheet.write(100, 100 + 30 * n, "upright words")
    assert turned_view(sheet.vector()) is None
