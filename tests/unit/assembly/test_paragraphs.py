"""A paragraph cut by a break is one block with both places; what ended is left alone."""

import pytest
from tests.golden.documents import Made, block, page, paragraph

from pageloom.assembly.assemble import assemble
from pageloom.model.blocks import Block, Figure, Footnote, Heading, ListItem, PageNumber, Paragraph
from pageloom.model.document import AnyPage, FailedPage, Page

LOW, HIGH = (0.1, 0.84, 0.9, 0.9), (0.1, 0.1, 0.9, 0.16)


def end(*lines: str, **more: object) -> Block:
    made: Block = paragraph(*lines, number=1, box=LOW, name="p1-b1", **more)
    return made


def start(*lines: str, **more: object) -> Block:
    made: Block = paragraph(*lines, number=2, box=HIGH, name="p2-b1", **more)
    return made


def walked(*pages: AnyPage) -> list[AnyPage]:
    return list(assemble(Made(pages)).pages)


def pair(first: Block, second: Block) -> tuple[Page, Page]:
    one, other = walked(page(first), page(second, number=2))
    assert isinstance(one, Page)
    assert isinstance(other, Page)
    return one, other


def test_a_sentence_over_a_page_break_is_one_paragraph_with_both_places() -> None:
    first = end("The river was low in March and", "rose when the snow of the upper")
    second = start("valleys melted in the first week", "of May.", widths=[1, 0.2])
    one, other = pair(first, second)
    grown = one.blocks[0]
    assert isinstance(grown, Paragraph)
    assert grown.id == "p1-b1"
    assert grown.text == f"{first.text} {second.text}"  # type: ignore[union-attr]
    assert grown.regions == (*first.regions, *second.regions)
    assert grown.lines == (*first.lines, *second.lines)
    assert grown.notes == ("joined_over_page",)
    assert other.blocks == ()
    assert other.continued == ("p1-b1",)


def test_ideographs_are_joined_without_a_blank() -> None:
    one, _ = pair(
        end("三月里河水很低，直到上游山谷", "的积雪在五月的第一个星期"), start("开始融化才慢慢上涨。", "人们")
    )
    assert one.blocks[0].text == "三月里河水很低，直到上游山谷的积雪在五月的第一个星期开始融化才慢慢上涨。人们"  # type: ignore[union-attr]


@pytest.mark.parametrize("mark", ["\u00ad", "\ufffe"])
def test_a_soft_hyphen_at_the_break_is_resolved(mark: str) -> None:
    first = end("They had long studied the", f"geo{mark}", text="They had long studied the geo")
    one, _ = pair(first, start("logy of the lower river.", "It"))
    assert one.blocks[0].text == "They had long studied the geology of the lower river. It"  # type: ignore[union-attr]


@pytest.mark.parametrize("mark", ["\u00ad", "\ufffe"])
def test_a_soft_hyphen_inside_a_paragraph_prints_nothing(mark: str) -> None:
    one, _ = pair(end(f"The geo{mark}logy of rivers."), start("Another thing is sand."))
    assert one.blocks[0].text == "The geology of rivers."  # type: ignore[union-attr]


def test_a_hard_hyphen_at_the_break_is_taken_for_a_divided_word() -> None:
    one, _ = pair(end("They had long studied the", "develop-"), start("ment of the lower river.", "It"))
    assert "the development of" in one.blocks[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize("sign", [".", "!", "?", "。", "”", "…"])
def test_a_sentence_that_ended_is_not_joined(sign: str) -> None:
    closed = f".{sign}" if sign == "”" else sign
    one, other = pair(
        end("The river was low in March and", f"rose in the first week of May{closed}"), start("Then", "x")
    )
    assert len(one.blocks) == len(other.blocks) == 1
    assert other.continued == ()


@pytest.mark.parametrize("begin", ["2.1 methods of", "• sand and", "第三条 本"])
def test_what_starts_anew_is_not_joined(begin: str) -> None:
    _, other = pair(end("The river was low in March and", "rose when the snow of the upper"), start(begin, "more"))
    assert len(other.blocks) == 1


def test_a_heading_is_not_joined_to_a_paragraph() -> None:
    _, other = pair(end("The river was low and", "rose when the snow of"), start("the upper part", "x", kind=Heading))
    assert len(other.blocks) == 1


def test_letters_of_another_size_are_another_text() -> None:
    first = end("The river was low in March and", "rose when the snow of the upper")
    large = paragraph("valleys melted in", "May", number=2, box=(0.1, 0.1, 0.9, 0.3), name="p2-b1")
    _, other = pair(first, large)
    assert len(other.blocks) == 1


def test_furniture_notes_and_figures_do_not_stand_between() -> None:
    first = page(
        end("The river was low in March and", "rose when the snow of the upper"),
        block(Footnote, "1 Read at seven.", 1, id="p1-b2", box=(0.1, 0.91, 0.9, 0.93)),
        block(PageNumber, "1", 1, id="p1-b3", box=(0.4, 0.95, 0.6, 0.97)),
    )
    second = page(
        block(Figure, "", 2, id="p2-b0", box=(0.1, 0.02, 0.9, 0.09)),
        start("valleys melted in the first week", "of May."),
        number=2,
    )
    one, other = walked(first, second)
    assert len(one.blocks[0].regions) == 2
    assert [each.id for each in one.blocks] == ["p1-b1", "p1-b2", "p1-b3"]
    assert [each.id for each in other.blocks] == ["p2-b0"]


def test_a_failed_page_between_keeps_its_place_and_parts_the_text() -> None:
    lost = FailedPage(number=2, code="internal", reason="lost")
    later = paragraph("valleys melted in May and", "June", number=3, box=HIGH, name="p3-b1")
    made = walked(page(end("The river was low and", "rose when the upper")), lost, page(later, number=3))
    assert made[1] is lost
    assert [each.number for each in made] == [1, 2, 3]
    assert len(made[2].blocks) == 1


def test_a_paragraph_over_three_pages_is_one_block() -> None:
    whole = (0.1, 0.1, 0.9, 0.9)
    lines = [f"line {n} of a long sentence without any" for n in "abcdefghijklmnopqrstuvwxyz"[:26]]
    pages = [page(paragraph(*lines, number=n, box=whole, name=f"p{n}-b1"), number=n) for n in (1, 2)] + [
        page(paragraph(*lines[:2], number=3, box=HIGH, name="p3-b1"), number=3)
    ]
    made = walked(*pages)
    assert [region.page for region in made[0].blocks[0].regions] == [1, 2, 3]
    assert [each.continued for each in made if isinstance(each, Page)] == [(), ("p1-b1",), ("p1-b1",)]


def test_a_paragraph_over_a_column_break_is_one_block() -> None:
    left = paragraph("The river was low in", "March and rose when", box=(0.08, 0.8, 0.47, 0.86), name="p1-b1")
    right = paragraph("the snow of the upper", "valleys melted.", box=(0.53, 0.1, 0.92, 0.16), name="p1-b2")
    (made,) = walked(page(left, right))
    assert [each.id for each in made.blocks] == ["p1-b1"]
    assert len(made.blocks[0].regions) == 2
    assert made.blocks[0].notes == ("joined_over_column",)


def test_a_list_item_goes_on_as_plain_text_of_the_next_page() -> None:
    item = end("sand that the river carries and", "lays down where the stream", kind=ListItem, marker="•")
    one, _ = pair(item, start("is slow, above all in bends.", "So"))
    assert isinstance(one.blocks[0], ListItem)
    assert len(one.blocks[0].regions) == 2
