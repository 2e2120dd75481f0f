"""Reading order."""

import pytest
from tests.unit.layout.sheets import Sheet, kinds, prose, texts

from pageloom.model.blocks import Table


def starts(sheet: Sheet, marks: list[str]) -> list[str]:
    """Marks in the order in which the page's text brings them."""
    text = "\n".join(texts(sheet.blocks()))
    assert all(mark in text for mark in marks)
    return sorted(marks, key=text.index)


def test_left_column_is_read_to_its_foot_before_the_right_one() -> None:
    sheet = Sheet()
    sheet.line(120, 40, "A title that stands over both of the columns", 14)
    sheet.column(40, 80, prose("L", 30))
    sheet.column(320, 80, prose("R", 30))
    assert starts(sheet, ["A title", "L0 ", "L29", "R0 ", "R29"]) == ["A title", "L0 ", "L29", "R0 ", "R29"]


def test_three_columns_are_read_one_after_the_other() -> None:
    sheet = Sheet()
    for x, tag in ((30, "A"), (220, "B"), (410, "C")):
        sheet.column(x, 60, prose(tag, 25, 32))
    assert starts(sheet, ["A0 ", "A24", "B0 ", "B24", "C0 ", "C24"]) == ["A0 ", "A24", "B0 ", "B24", "C0 ", "C24"]


def test_columns_drift_with_a_slightly_tilted_scan() -> None:
    sheet = Sheet(basis="recogniser")
    for x, tag in ((30, "A"), (220, "B"), (410, "C")):
        for number, text in enumerate(prose(tag, 25, 32)):
            sheet.line(x + number * 0.3, 60 + 13 * number - x * 0.01, text)
    assert starts(sheet, ["A0 ", "A24", "B0 ", "B24", "C0 "]) == ["A0 ", "A24", "B0 ", "B24", "C0 "]


def test_a_heading_between_two_stories_ends_the_columns_above_it() -> None:
    sheet = Sheet()
    sheet.column(40, 60, prose("L", 12))
    sheet.column(320, 60, prose("R", 12))
    sheet.line(60, 290, "A second story with a title as wide as the whole page is", 18)
    sheet.column(40, 330, prose("M", 12))
    sheet.column(320, 330, prose("S", 12))
    marks = ["L0 ", "L11", "R0 ", "R11", "A second story", "M0 ", "M11", "S0 "]
    assert starts(sheet, marks) == marks


def test_a_short_label_over_the_next_story_is_not_the_end_of_a_column() -> None:
    sheet = Sheet()
    sheet.column(40, 60, prose("L", 12))
    sheet.column(320, 60, prose("R", 16))
    sheet.line(40, 300, "NEWS", 14)
    sheet.line(60, 325, "A second story with a title as wide as the whole page is", 18)
    sheet.column(40, 365, prose("M", 12, 100))
    assert starts(sheet, ["L11", "R15", "NEWS", "A second", "M0 "]) == ["L11", "R15", "NEWS", "A second", "M0 "]


def test_labels_and_their_values_are_read_row_by_row() -> None:
    sheet = Sheet()
    pairs = [("Name:", "Jane Roe"), ("City:", "Leiden"), ("Date:", "2 May 2020"), ("Total:", "12.00"), ("Tax:", "1.20")]
    for number, (label, value) in enumerate(pairs):
        sheet.line(60, 100 + 16 * number, label)
        sheet.line(200, 100 + 16 * number, value)
    joined = " ".join(texts(sheet.blocks()))
    assert all(joined.index(label) < joined.index(value) for label, value in pairs)
    assert joined.index("Jane Roe") < joined.index("City:")


def test_two_addresses_side_by_side_are_not_mixed() -> None:
    sheet = Sheet()
    sheet.column(50, 100, ["Bill to", "Anna Adams", "1 First Street", "London"], 14)
    sheet.column(350, 100, ["Ship to", "Bert Brown", "2 Second Street", "Bristol"], 14)
    marks = ["Anna Adams", "London", "Ship to", "Bristol"]
    assert starts(sheet, marks) == marks


def test_a_drawn_line_parts_blocks_that_stand_close_together() -> None:
    sheet = Sheet()
    sheet.column(50, 100, ["Buyer A", "Tax 1111", "Road 1"], 14)
    sheet.column(150, 100, ["Seller B", "Tax 2222", "Road 2"], 14)
    sheet.rule(120, 95, 120, 145)
    marks = ["Buyer A", "Road 1", "Seller B", "Road 2"]
    assert starts(sheet, marks) == marks


def test_right_to_left_columns_start_on_the_right() -> None:
    sheet = Sheet()
    for number in range(8):
        sheet.line(330, 100 + 14 * number, f"שלום עולם זה טור ימני ארוך למדי{number}")
        sheet.line(60, 100 + 14 * number, f"שלום עולם זה טור שמאלי ארוך יותר{number}")
    text = " ".join(texts(sheet.blocks()))
    assert text.index("ימני ארוך למדי7") < text.index("שמאלי ארוך יותר0")


def test_vertical_lines_are_read_from_right_to_left() -> None:
    from pageloom.model.geometry import Box
    from pageloom.model.image import TextLine

    sheet = Sheet(basis="recogniser")
    for x, text in ((500, "春眠不覺曉處處聞啼鳥"), (470, "夜來風雨聲花落知多少"), (440, "床前明月光疑是地上霜")):
        sheet.lines.insert(0, TextLine(text, Box(x / 600, 0.1, (x + 20) / 600, 0.6), angle=90))
    text = "".join(texts(sheet.blocks()))
    assert text.index("春眠") < text.index("夜來") < text.index("床前")


def test_a_stamp_in_the_margin_is_one_block_beside_the_text() -> None:
    from pageloom.model.geometry import Box
    from pageloom.model.image import TextLine

    sheet = Sheet()
    sheet.column(60, 60, prose("L", 30, 90))
    for y0, y1, text in ((0.55, 0.7, "arXiv:2203.00274v2"), (0.42, 0.54, "[cs.CL]"), (0.3, 0.4, "3 May 2022")):
        sheet.lines.append(TextLine(text, Box(0.02, y0, 0.045, y1), size=14, angle=270))
    stamp = [block for block in sheet.blocks() if "sideways" in block.notes]
    assert texts(tuple(stamp)) == ["arXiv:2203.00274v2 [cs.CL] 3 May 2022"]
    assert kinds(tuple(stamp)) == ["running_header"]


@pytest.mark.parametrize("basis", ["text-layer", "recogniser"])
def test_every_line_is_in_exactly_one_block(basis: str) -> None:
    sheet = Sheet(basis=basis)
    sheet.line(120, 20, "Head line of the page 12", 8)
    sheet.column(40, 80, prose("L", 20))
    sheet.column(320, 80, prose("R", 20))
    sheet.line(60, 400, "3", 8)
    sheet.line(60, 410, "4", 8)
    sheet.line(90, 405, "of a cup")
    sheet.line(300, 780, "7", 8)
    found: list[str] = []
    for block in sheet.blocks():
        cells = [line for cell in block.cells for line in cell.lines] if isinstance(block, Table) else []
        found += [line.text for line in (*block.lines, *cells)]
    assert sorted(found) == sorted(line.text for line in sheet.lines)


def test_a_page_of_stray_marks_ends_in_time() -> None:
    sheet = Sheet(basis="recogniser")
    for number in range(400):
        sheet.line((number * 37) % 580, (number * 53) % 780, "x.", 6)
    assert len("".join(texts(sheet.blocks())).replace(" ", "").replace("\n", "").replace("\t", "")) >= 400
