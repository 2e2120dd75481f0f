"""Where paragraphs begin and end."""

from tests.unit.layout.sheets import Sheet, kinds, prose, texts


def test_lines_of_one_paragraph_become_one_text() -> None:
    sheet = Sheet()
    sheet.column(60, 100, prose("A", 6, 80))
    assert len(sheet.blocks()) == 1


def test_white_space_parts_paragraphs() -> None:
    sheet = Sheet()
    end = sheet.column(60, 100, prose("A", 5, 80))
    sheet.column(60, end + 8, prose("B", 5, 80))
    assert [text[:2] for text in texts(sheet.blocks())] == ["A0", "B0"]


def test_an_indent_begins_a_paragraph() -> None:
    sheet = Sheet()
    end = sheet.column(60, 100, [*prose("A", 4, 80), "and that was the end of it all."])
    sheet.line(75, end, prose("B", 1, 77)[0])
    sheet.column(60, end + 13, prose("C", 3, 80))
    assert [text[:2] for text in texts(sheet.blocks())] == ["A0", "B0"]


def test_a_short_last_line_ends_a_paragraph() -> None:
    sheet = Sheet()
    end = sheet.column(60, 100, [*prose("A", 4, 80), "and that was all."])
    sheet.column(60, end, prose("B", 4, 80))
    assert [text[:2] for text in texts(sheet.blocks())] == ["A0", "B0"]


def test_items_of_a_list_are_kept_apart_with_marker_and_depth() -> None:
    sheet = Sheet()
    sheet.column(60, 100, prose("A", 4, 80))
    sheet.line(70, 170, "• first point of the list")
    sheet.line(90, 183, "– a point below the first")
    sheet.line(70, 196, "• second point of the list")
    items = [block for block in sheet.blocks() if block.kind == "list_item"]
    assert [(one.marker, one.depth, one.text) for one in items] == [
        ("•", 0, "first point of the list"),
        ("–", 1, "a point below the first"),
        ("•", 0, "second point of the list"),
    ]


def test_long_items_keep_their_following_lines() -> None:
    sheet = Sheet()
    for number in range(3):
        y = 100 + 40 * number
        sheet.line(60, y, f"{number + 1}. " + prose("P", 1, 77)[0])
        sheet.line(73, y + 13, f"and the rest of item {number + 1} on its second line.")
    found = [(block.kind, block.text.endswith("second line.")) for block in sheet.blocks()]
    assert found == [("list_item", True)] * 3


def test_numbered_clauses_begin_anew_without_white_space() -> None:
    sheet = Sheet(basis="recogniser")
    sheet.column(
        60,
        100,
        ["第三条付款方式", "3.1本合同签订后五个工作日内甲方支付总价的三成。", "3.2货物验收合格后十日内支付。"],
        18,
    )
    assert texts(sheet.blocks()) == [line.text for line in sheet.lines]


def test_form_lines_with_labels_are_not_run_together() -> None:
    sheet = Sheet(basis="recogniser")
    sheet.column(60, 100, ["甲方：杭州云岫测试科技有限公司", "法定代表人：林知远", "日期：2025年4月17日"], 18)
    assert len(sheet.blocks()) == 3


def test_a_title_of_two_lines_is_one_heading() -> None:
    sheet = Sheet()
    sheet.line(90, 60, "A Unified Toolkit for Deep Learning", 18, bold=True)
    sheet.line(110, 82, "Based Document Image Analysis", 18, bold=True)
    sheet.column(60, 130, prose("A", 10, 80))
    assert kinds(sheet.blocks())[:2] == ["heading", "paragraph"]
    assert texts(sheet.blocks())[0] == "A Unified Toolkit for Deep Learning Based Document Image Analysis"


def test_bold_words_at_the_head_of_a_paragraph_do_not_part_it() -> None:
    sheet = Sheet()
    first, *rest = prose("A", 5, 80)
    sheet.line(60, 100, first, bold=True)
    sheet.column(60, 113, rest)
    assert kinds(sheet.blocks()) == ["paragraph"]


def test_a_sentence_cut_by_a_column_break_is_one_paragraph_with_two_regions() -> None:
    sheet = Sheet()
    sheet.column(40, 80, prose("L", 20))
    right = prose("r", 19)
    sheet.column(320, 80, ["and goes on in the next column " + "e" * 15, *right])
    (block,) = sheet.blocks()
    assert len(block.regions) == 2
    assert block.regions[0].box.x1 < block.regions[1].box.x0


def test_a_drop_cap_is_the_first_letter_of_its_paragraph() -> None:
    sheet = Sheet()
    sheet.line(60, 100, "O", 30)
    lines = prose("ver", 2, 70)
    sheet.line(80, 102, lines[0])
    sheet.line(80, 115, lines[1])
    sheet.column(60, 128, prose("A", 6, 74))
    assert texts(sheet.blocks())[0].startswith("Over0 ")
