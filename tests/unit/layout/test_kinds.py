"""Kinds of blocks."""

from tests.unit.layout.sheets import HEIGHT, RULES, WIDTH, Sheet, kinds, prose, texts

from pageloom.layout.compose import compose
from pageloom.layout.page import LayoutPage
from pageloom.model.geometry import Box, PageSize


def body(sheet: Sheet, y: float = 120, tag: str = "A") -> float:
    return sheet.column(60, y, [*prose(tag, 11, 86), "and so it ended."])


def kind_of(sheet: Sheet, start: str) -> str:
    return next(block.kind for block in sheet.blocks() if " ".join(texts((block,))).startswith(start))


def test_sizes_give_heading_levels() -> None:
    sheet = Sheet()
    sheet.line(60, 50, "The title of it all", 20)
    sheet.line(60, 90, "A part of it", 13)
    body(sheet)
    found = [(block.text, block.level) for block in sheet.blocks() if block.kind == "heading"]
    assert found == [("The title of it all", 1), ("A part of it", 2)]


def test_numbers_give_heading_levels() -> None:
    sheet = Sheet()
    y = 50.0
    for title in ("1 Introduction", "1.1 Motivation", "1.1.1 Details of it"):
        sheet.line(60, y, title, 10, bold=True)
        y = body(sheet, y + 22) + 14
    assert [block.level for block in sheet.blocks() if block.kind == "heading"] == [1, 2, 3]


def test_bold_lines_in_a_row_are_no_headings() -> None:
    sheet = Sheet()
    end = body(sheet)
    for number in range(4):
        sheet.line(60, end + 20 + 24 * number, f"Question of a kind {number}", bold=True)
    body(sheet, end + 130)
    assert "heading" not in kinds(sheet.blocks())


def test_entries_below_references_are_references() -> None:
    sheet = Sheet()
    end = body(sheet)
    sheet.line(60, end + 20, "References", 12, bold=True)
    for number in range(3):
        entry = f"[{number + 1}] A. Author and B. Writer. A paper about nothing, {2001 + number}."
        sheet.line(60, end + 45 + 30 * number, entry)
    assert kinds(sheet.blocks())[-4:] == ["heading", "reference", "reference", "reference"]


def test_small_print_with_a_mark_at_the_foot_is_a_footnote() -> None:
    sheet = Sheet()
    body(sheet, 400)
    sheet.line(60, 700, "1 Work done during an internship at some place.", 7.5)
    assert kind_of(sheet, "1 Work") == "footnote"


def test_page_numbers_and_running_lines_are_marked() -> None:
    sheet = Sheet()
    sheet.line(60, 25, "Journal of Things", 8)
    sheet.line(500, 25, "117", 8)
    body(sheet)
    sheet.line(60, 770, "Copyright of somebody", 7)
    found = dict(zip(texts(sheet.blocks()), kinds(sheet.blocks()), strict=True))
    assert found["Journal of Things"] == "running_header"
    assert found["117"] == "page_number"
    assert found["Copyright of somebody"] == "running_footer"


def test_a_large_title_at_the_top_is_no_running_header() -> None:
    sheet = Sheet()
    sheet.line(60, 30, "The title of it all", 20)
    body(sheet)
    assert kind_of(sheet, "The title") == "heading"


def test_the_last_line_of_a_full_page_is_text() -> None:
    sheet = Sheet()
    sheet.column(60, 60, prose("A", 55, 86), 13)
    assert kinds(sheet.blocks()) == ["paragraph"]


def test_code_keeps_lines_and_indentation() -> None:
    sheet = Sheet()
    body(sheet)
    for number, text in enumerate(("def add(a, b):", "return a + b", "}", "print(add(1, 2))")):
        sheet.line(80 + (20 if number == 1 else 0), 330 + 12 * number, text, mono=number != 2)
    (code,) = [block for block in sheet.blocks() if block.kind == "code"]
    assert code.text.splitlines() == ["def add(a, b):", "    return a + b", "}", "print(add(1, 2))"]


def test_mail_addresses_in_monospaced_type_are_no_program() -> None:
    sheet = Sheet()
    body(sheet, 200)
    sheet.line(60, 100, "first.writer@example.org", mono=True)
    sheet.line(60, 113, "second@example.org", mono=True)
    assert "code" not in kinds(sheet.blocks())


def test_a_page_typed_in_one_monospaced_font_is_no_program() -> None:
    sheet = Sheet()
    for number, text in enumerate(prose("A", 12, 86)):
        sheet.line(60, 100 + 13 * number, text, mono=True)
    assert kinds(sheet.blocks()) == ["paragraph"]


def test_a_caption_belongs_to_the_picture_above_it() -> None:
    sheet = Sheet()
    body(sheet)
    sheet.line(150, 560, "Figure 3: What was seen on that day")
    page = sheet.page()
    picture = Box(100 / WIDTH, 330 / HEIGHT, 500 / WIDTH, 550 / HEIGHT)
    blocks = compose(LayoutPage(1, PageSize(WIDTH, HEIGHT), page.lines, pictures=(picture,), basis="text-layer"), RULES)
    figure = next(block for block in blocks if block.kind == "figure")
    assert next(block for block in blocks if block.kind == "caption").parent == figure.id


def test_a_picture_behind_a_whole_page_never_swallows_its_text() -> None:
    sheet = Sheet()
    body(sheet)
    page = sheet.page()
    blocks = compose(
        LayoutPage(1, PageSize(WIDTH, HEIGHT), page.lines, pictures=(Box(0, 0, 1, 1),), basis="text-layer"), RULES
    )
    assert kinds(blocks) == ["paragraph"]


def test_a_picture_box_around_running_text_is_text() -> None:
    sheet = Sheet()
    end = body(sheet)
    box = Box(50 / WIDTH, 115 / HEIGHT, 560 / WIDTH, end / HEIGHT)
    lines = sheet.page().lines
    blocks = compose(LayoutPage(1, PageSize(WIDTH, HEIGHT), lines, pictures=(box,), basis="text-layer"), RULES)
    assert kinds(blocks) == ["paragraph"]


def test_a_displayed_formula_is_not_torn() -> None:
    sheet = Sheet()
    end = body(sheet)
    sheet.line(200, end + 10, "x = a + b − c ≤ ∑ d")
    sheet.line(240, end + 21, "i = 1")
    body(sheet, end + 50, "B")
    (formula,) = [block for block in sheet.blocks() if block.kind == "formula"]
    assert formula.text == "x = a + b − c ≤ ∑ d i = 1"
    assert formula.latex is None


def test_stacked_fractions_stay_in_their_line() -> None:
    sheet = Sheet(basis="recogniser")
    body(sheet)
    sheet.line(60, 400, "less than")
    sheet.line(112, 394, "4")
    sheet.line(112, 406, "8")
    assert "less than 4/8" in texts(sheet.blocks())


def test_confidence_is_the_mean_over_letters_with_its_basis() -> None:
    from pageloom.model.blocks import Confidence
    from pageloom.model.image import TextLine

    lines = (
        TextLine("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", Box(0.1, 0.1, 0.5, 0.112), Confidence(0.9, "recogniser"), size=8),
        TextLine("bbbbbbbbbb", Box(0.1, 0.115, 0.3, 0.127), Confidence(0.5, "recogniser"), size=8),
    )
    (block,) = compose(LayoutPage(1, PageSize(WIDTH, HEIGHT), lines), RULES)
    assert block.confidence == Confidence(0.8, "recogniser")
