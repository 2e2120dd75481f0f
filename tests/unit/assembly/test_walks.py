"""Assembly walks pages one by one: the same each time, ids kept, few in memory."""

from collections.abc import Iterator

from tests.golden.documents import Made, block, page, paragraph, table

from pageloom.assembly.assemble import MOST_PAGES_HELD, assemble
from pageloom.model.blocks import Heading, Paragraph, Table
from pageloom.model.document import AnyPage, DocumentHead, Page


def closed(number: int) -> Page:
    name = f"p{number}-b"
    return page(
        block(Heading, f"{number} Title", number, id=f"{name}1", box=(0.1, 0.2, 0.5, 0.22)),
        block(Paragraph, "All is said.", number, id=f"{name}2", box=(0.1, 0.8, 0.9, 0.82)),
        number=number,
    )


def unending(number: int) -> Page:
    lines = [f"line {sign} of a sentence that never comes to its" for sign in "abcdefghijkl"]
    return page(paragraph(*lines, number=number, box=(0.1, 0.1, 0.9, 0.9), name=f"p{number}-b1"), number=number)


class Counted:
    """A document whose pages are made when they are asked for; `drawn` counts them."""

    def __init__(self, count: int, make: object = closed) -> None:
        self.head = DocumentHead(name="counted.pdf", page_count=count)
        self.drawn = 0
        self._make = make

    @property
    def pages(self) -> Iterator[AnyPage]:
        for number in range(1, self.head.page_count + 1):
            self.drawn += 1
            yield self._make(number)  # type: ignore[operator]

    def asset(self, name: str) -> bytes | None:
        return name.encode()


def ahead(count: int, make: object) -> int:
    """How many pages the second walk was ahead of what it had given, at most."""
    source = Counted(count, make)
    made = assemble(source)
    most = 0
    for given, _ in enumerate(made.pages):
        most = max(most, source.drawn - count - given)
    return most


def test_nothing_is_walked_before_a_page_is_asked_for() -> None:
    source = Counted(5)
    made = assemble(source)
    assert made.head is source.head
    iter(made.pages)
    assert source.drawn == 0


def test_pages_are_given_as_they_come_not_all_at_the_end() -> None:
    assert ahead(300, closed) <= 2


def test_a_block_without_end_holds_a_bounded_number_of_pages() -> None:
    assert 2 < ahead(300, unending) <= MOST_PAGES_HELD + 2


def test_all_pages_of_a_block_without_end_are_given_in_order() -> None:
    made = list(assemble(Counted(150, unending)).pages)
    assert [each.number for each in made] == list(range(1, 151))
    assert sum(len(line.lines) for each in made for line in each.blocks) == 150 * 12


def test_the_facts_of_a_document_are_gathered_once() -> None:
    source = Counted(10)
    made = assemble(source)
    first = list(made.pages)
    assert source.drawn == 20
    assert list(made.pages) == first
    assert source.drawn == 30


def test_two_assemblies_of_one_document_are_the_same_and_keep_all_ids() -> None:
    rows = [["Alder", "one"], ["Birch", "two"], ["Cedar", "three"]]
    source = Made(
        (
            page(table(rows, box=(0.1, 0.4, 0.9, 0.9), name="p1-b1")),
            page(table(rows, 2, box=(0.1, 0.1, 0.9, 0.3), name="p2-b1"), *closed(2).blocks[1:], number=2),
            closed(3),
        )
    )
    once, again = list(assemble(source).pages), list(assemble(source).pages)
    assert once == again
    known = {each.id for one in source.pages for each in one.blocks}
    cells = {cell.id for one in source.pages for each in one.blocks if isinstance(each, Table) for cell in each.cells}
    given = [each.id for one in once for each in one.blocks]
    assert set(given) <= known
    assert len(given) == len(set(given))
    assert {cell.id for one in once for each in one.blocks if isinstance(each, Table) for cell in each.cells} <= cells


def test_assembling_twice_changes_nothing_more() -> None:
    source = Counted(6, unending)
    once = assemble(source)
    assert list(assemble(once).pages) == list(once.pages)


def test_crops_come_from_the_source() -> None:
    assert assemble(Counted(1)).asset("a.png") == b"a.png"
