"""Tables cut by a page break: every row, cell and box is kept, and only a repeated header goes."""

import pytest
from tests.golden.documents import Made, block, page, table

from pageloom.assembly.assemble import assemble
from pageloom.model.blocks import Caption, PageNumber, Paragraph, Table
from pageloom.model.document import Page

FIRST, SECOND = (0.1, 0.4, 0.9, 0.9), (0.1, 0.1, 0.9, 0.5)
HEAD = ["Place", "Depth", "Date"]
WORDS = ["Alder", "Birch", "Cedar", "Damson", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper"]


def rows(begin: int, count: int) -> list[list[str]]:
    return [[WORDS[n], f"{n}.5 m", f"{n + 1} May"] for n in range(begin, begin + count)]


def walked(*pages: Page) -> list[Page]:
    return [each for each in assemble(Made(pages)).pages if isinstance(each, Page)]


def texts(made: Table) -> list[list[str]]:
    held: dict[int, dict[int, str]] = {}
    for cell in made.cells:
        held.setdefault(cell.row, {})[cell.column] = cell.text
    return [[line[column] for column in sorted(line)] for _, line in sorted(held.items())]


def joined(first: Table, second: Table) -> Table:
    one, other = walked(page(first), page(second, number=2))
    grown = one.blocks[0]
    assert isinstance(grown, Table)
    assert other.blocks == ()
    assert other.continued == (first.id,)
    return grown


def test_a_repeated_header_goes_and_no_row_cell_or_box_is_lost() -> None:
    first = table([HEAD, *rows(0, 4)], box=FIRST, headers=1)
    second = table([HEAD, *rows(4, 5)], 2, box=SECOND, headers=1)
    grown = joined(first, second)
    assert texts(grown) == [HEAD, *rows(0, 9)]
    assert (grown.rows, grown.columns) == (10, 3)
    assert [cell.row for cell in grown.cells if cell.header] == [0, 0, 0]
    assert grown.regions == (*first.regions, *second.regions)
    kept = {cell.id: cell.regions for cell in grown.cells}
    assert kept == {cell.id: cell.regions for cell in (*first.cells, *second.cells[3:])}


def test_without_a_repeated_header_every_row_stays() -> None:
    grown = joined(table([HEAD, *rows(0, 4)], box=FIRST, headers=1), table(rows(4, 3), 2, box=SECOND))
    assert texts(grown) == [HEAD, *rows(0, 7)]


@pytest.mark.parametrize("headers", [0, 1])
def test_a_data_row_much_like_the_first_one_is_not_taken_for_a_header(headers: int) -> None:
    def paid(months: range) -> list[list[str]]:
        return [[f"2024-{month:02}-01", "Monthly payment", "100.00"] for month in months]

    first = table(paid(range(1, 6)), box=FIRST, headers=headers)
    assert texts(joined(first, table(paid(range(6, 9)), 2, box=SECOND))) == paid(range(1, 9))


def test_equal_data_rows_without_a_header_are_all_kept() -> None:
    first = table([["none", "none", "none"]] * 4, box=FIRST)
    assert joined(first, table([["none", "none", "none"]] * 3, 2, box=SECOND)).rows == 7


def test_a_header_that_is_not_marked_is_known_by_being_printed_again() -> None:
    first = table([HEAD, *rows(0, 4)], box=FIRST)
    assert texts(joined(first, table([HEAD, *rows(4, 2)], 2, box=SECOND))) == [HEAD, *rows(0, 6)]


def test_a_header_of_two_rows_with_a_misread_letter_goes_whole() -> None:
    heads = [["Station", "Water", "Time"], ["name", "metres", "of reading"]]
    again = [["Stat1on", "Water", "Time"], ["name", "metres", "of reading"]]
    first = table([*heads, *rows(0, 3)], box=FIRST, headers=2)
    grown = joined(first, table([*again, *rows(3, 3)], 2, box=SECOND, headers=2))
    assert texts(grown)[2:] == rows(0, 6)


def test_a_table_over_three_pages_is_one() -> None:
    whole = (0.1, 0.05, 0.9, 0.93)
    pages = [
        page(table([HEAD, *rows(3 * n - 3, 3)], n, box=whole, headers=1, name=f"p{n}-b1"), number=n) for n in (1, 2, 3)
    ]
    made = walked(*pages)
    grown = made[0].blocks[0]
    assert isinstance(grown, Table)
    assert texts(grown) == [HEAD, *rows(0, 9)]
    assert [region.page for region in grown.regions] == [1, 2, 3]


def test_a_remark_that_a_table_goes_on_does_not_stand_between() -> None:
    remark = block(Caption, "Table 2 (continued)", 2, id="p2-b0", box=(0.1, 0.05, 0.5, 0.07), parent="p2-b1")
    number = block(PageNumber, "1", 1, id="p1-b9", box=(0.4, 0.95, 0.6, 0.97))
    first = table([HEAD, *rows(0, 4)], box=FIRST, headers=1)
    one, other = walked(page(first, number), page(remark, table(rows(4, 2), 2, box=SECOND), number=2))
    assert len(one.blocks[0].regions) == 2
    assert [(each.id, each.parent) for each in other.blocks] == [("p2-b0", "p1-b1")]


def test_tables_with_text_between_stay_two() -> None:
    words = block(Paragraph, "The second survey had these results.", 2, id="p2-b0", box=(0.1, 0.05, 0.9, 0.08))
    first = table([HEAD, *rows(0, 4)], box=FIRST)
    made = walked(page(first), page(words, table(rows(4, 2), 2, box=SECOND), number=2))
    assert [len(each.blocks) for each in made] == [1, 2]


def test_tables_of_other_columns_stay_two() -> None:
    narrow = table([["a", "b"], ["c", "d"]], 2, box=(0.3, 0.1, 0.6, 0.3))
    made = walked(page(table([HEAD, *rows(0, 4)], box=FIRST)), page(narrow, number=2))
    assert [len(each.blocks) for each in made] == [1, 1]


def test_a_table_that_ends_high_on_its_page_is_whole() -> None:
    first = table([HEAD, *rows(0, 4)], box=(0.1, 0.1, 0.9, 0.3))
    made = walked(page(first), page(table(rows(4, 2), 2, box=SECOND), number=2))
    assert [len(each.blocks) for each in made] == [1, 1]
