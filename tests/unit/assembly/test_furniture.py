"""What comes again at the edge of pages is named, never deleted."""

import pytest
from tests.golden.documents import Made, block, page

from pageloom.assembly.assemble import assemble
from pageloom.assembly.furniture import folded, printed_number
from pageloom.model.blocks import Heading, PageNumber, Paragraph, RunningFooter, RunningHeader
from pageloom.model.document import Page

TOP, BODY, FOOT = (0.1, 0.03, 0.9, 0.05), (0.1, 0.3, 0.9, 0.5), (0.1, 0.95, 0.9, 0.97)


def report(head: str, foot: str, number: int, kind: type = Paragraph) -> Page:
    name = f"p{number}-b"
    return page(
        block(kind, head, number, id=f"{name}1", box=TOP),
        block(Paragraph, f"What page {number} tells is told once.", number, id=f"{name}2", box=BODY),
        block(Paragraph, foot, number, id=f"{name}3", box=FOOT),
        number=number,
    )


def walked(*pages: Page) -> list[Page]:
    return [each for each in assemble(Made(pages)).pages if isinstance(each, Page)]


def kinds(pages: list[Page], place: int) -> set[type]:
    return {type(each.blocks[place]) for each in pages}


def test_a_line_at_the_head_of_every_page_is_a_running_header_and_stays() -> None:
    source = [report("Annual report", f"closing words {'xyzuv'[number]}", number + 1) for number in range(5)]
    made = walked(*source)
    assert kinds(made, 0) == {RunningHeader}
    assert kinds(made, 1) == {Paragraph}
    assert kinds(made, 2) == {Paragraph}
    assert [b.id for each in made for b in each.blocks] == [b.id for each in source for b in each.blocks]
    assert [b.text for each in made for b in each.blocks] == [b.text for each in source for b in each.blocks]


def test_digits_are_folded_so_a_line_that_counts_is_one_line() -> None:
    made = walked(*(report(f"Head {'abcde'[n]}", f"Minutes of 3 May, sheet {n + 11} of 90", n + 1) for n in range(5)))
    assert kinds(made, 2) == {RunningFooter}
    assert kinds(made, 0) == {Paragraph}


def test_a_misread_letter_does_not_hide_a_running_header() -> None:
    heads = ["Handbook of river gauges"] * 4 + ["Handb0ok of river gauqes"]
    made = walked(*(report(head, f"words {'abcde'[n]}", n + 1) for n, head in enumerate(heads)))
    assert kinds(made, 0) == {RunningHeader}


def test_page_numbers_that_follow_the_pages_are_page_numbers() -> None:
    made = walked(*(report(f"Head {'abcd'[n]}", f"- {n + 7} -", n + 1) for n in range(4)))
    assert kinds(made, 2) == {PageNumber}


def test_a_number_at_the_foot_that_does_not_follow_the_pages_is_text() -> None:
    made = walked(*(report(f"Head {'abcd'[n]}", amount, n + 1) for n, amount in enumerate(["812", "44", "9071", "3"])))
    assert PageNumber not in kinds(made, 2)


def test_a_line_of_one_page_is_text() -> None:
    made = walked(*(report(head, f"{head} foot", n + 1) for n, head in enumerate(["Oranges", "Bridges", "Winter"])))
    assert kinds(made, 0) == kinds(made, 2) == {Paragraph}


def test_an_equal_line_at_another_height_is_text() -> None:
    lines = [
        page(block(Paragraph, "Total", n, id=f"p{n}-b1", box=(0.1, 0.2 + n / 10, 0.9, 0.22 + n / 10)), number=n)
        for n in range(1, 5)
    ]
    assert kinds(walked(*lines), 0) == {Paragraph}


def test_two_equal_headings_are_not_yet_a_running_header() -> None:
    assert kinds(walked(*(report("Summary", f"foot {n * 'x'}", n, Heading) for n in (1, 2))), 0) == {Heading}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("- 7 -", 7),
        ("Page 7 of 9", 7),
        ("Seite 12 von 30", 12),
        ("第7页 共9页", 7),
        ("７", 7),
        ("12/30", 12),
        ("vii", 7),
        ("XIV", 14),
        ("in 2024", None),
        ("mix", None),
        ("", None),
        ("3.5", None),
    ],
)
def test_printed_page_numbers_are_known_in_many_habits(text: str, number: int | None) -> None:
    assert printed_number(text) == number


def test_folding_leaves_letters_and_one_sign_for_any_number() -> None:
    assert folded("Page 3 – Ｒeport") == folded("PAGE 128 report")
    assert folded("Report a") != folded("Report b")
