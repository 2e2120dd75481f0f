"""Heading levels agree over a whole document, whatever each page alone made of them."""

from collections.abc import Sequence

import pytest
from tests.golden.documents import Made, block, page

from pageloom.assembly.assemble import assemble
from pageloom.assembly.numbering import number_of, starts_anew
from pageloom.model.blocks import Heading, Paragraph
from pageloom.model.document import Page


def book(titles: Sequence[tuple[str, float, int]]) -> list[int]:
    """Levels of headings, given as text, letter height (share of the page) and the level their page gave them."""
    pages = []
    for number, (title, size, given) in enumerate(titles, 1):
        pages.append(
            page(
                block(Heading, title, number, id=f"p{number}-b1", box=(0.1, 0.3, 0.6, 0.3 + size), level=given),
                block(Paragraph, "Some words below.", number, id=f"p{number}-b2", box=(0.1, 0.5, 0.9, 0.52)),
                number=number,
            )
        )
    made = [each for each in assemble(Made(pages)).pages if isinstance(each, Page)]
    return [each.level for one in made for each in one.blocks if isinstance(each, Heading)]


def test_a_dotted_number_is_the_level_whatever_size_and_page_say() -> None:
    titles = [("1 Aim", 0.02, 3), ("1.1 Area", 0.03, 1), ("1.1.1 Soil", 0.02, 1), ("2 Method", 0.016, 2)]
    assert book(titles) == [1, 2, 3, 1]


@pytest.mark.parametrize(
    ("titles", "levels"),
    [
        (["第一章 总则", "第一节 范围", "一、定义", "（一）术语", "第二章 附则"], [1, 2, 3, 4, 1]),
        (["Part I Ground", "Chapter 1 Sand", "1.1 Grain", "1.1.1 Size", "Chapter 2 Clay"], [1, 2, 2, 3, 2]),
        (["I. Facts", "A. The land", "1. The deed", "II. Law"], [1, 2, 3, 1]),
        (["一、概况", "（一）位置", "（二）气候", "二、历史"], [1, 2, 2, 1]),
    ],
)
def test_levels_follow_the_way_of_numbering(titles: list[str], levels: list[int]) -> None:
    assert book([(title, 0.02, 1) for title in titles]) == levels


def test_equal_numbering_has_equal_levels_over_the_whole_document() -> None:
    titles = [(f"{chapter}.{part} Title", 0.015 + 0.002 * part, part) for chapter in range(1, 6) for part in (1, 2, 3)]
    assert set(book(titles)) == {2}


def test_headings_without_numbers_are_ranked_by_their_size() -> None:
    titles = [("Rivers", 0.04, 1), ("Sources", 0.02, 1), ("Mouths", 0.0205, 1), ("Lakes", 0.0395, 2)]
    assert book(titles) == [1, 2, 2, 1]


def test_a_heading_without_number_takes_the_level_of_numbered_ones_of_its_size() -> None:
    titles = [("1 Aim", 0.03, 1), ("1.1 Area", 0.02, 1), ("Thanks", 0.03, 4), ("Remarks", 0.02, 4)]
    assert book(titles) == [1, 2, 1, 2]


def test_no_level_is_deeper_than_six() -> None:
    assert book([("1.1.1.1.1.1 Deep", 0.02, 1), ("1 Top", 0.02, 1)]) == [6, 1]


@pytest.mark.parametrize("text", ["2024 was dry", "Area", "1,000 lakes", "12:30 Lunch"])
def test_years_and_amounts_are_no_numbers_of_headings(text: str) -> None:
    assert number_of(text) is None


@pytest.mark.parametrize("text", ["1. first", "(a) first", "• first", "第三条 first", "2.1 first"])
def test_items_and_headings_start_anew(text: str) -> None:
    assert starts_anew(text)
    assert not starts_anew("and the rest of a sentence")
