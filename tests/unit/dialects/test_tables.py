"""HTML and pipe tables to cells."""

from pageloom.dialects.deepseek_ocr2.markdown import parts
from pageloom.dialects.deepseek_ocr2.tables import MAX_COLUMNS, read_html, read_pipes, tables_in


def placed(html: str) -> list[tuple[int, int, int, int, str]]:
    return [(c.row, c.column, c.row_span, c.column_span, c.text) for c in read_html(html).cells]


def test_spans_push_the_cells_below_and_beside() -> None:
    html = '<table><tr><td rowspan="2">a</td><td colspan=2>b</td></tr><tr><td>c</td><td>d</td></tr></table>'
    assert placed(html) == [(0, 0, 2, 1, "a"), (0, 1, 1, 2, "b"), (1, 1, 1, 1, "c"), (1, 2, 1, 1, "d")]


def test_a_row_span_ends_with_the_table() -> None:
    grid = read_html("<table><tr><td rowspan=99>a</td><td>b</td></tr><tr><td>c</td></tr></table>")
    assert (grid.rows, grid.cells[0].row_span) == (2, 2)
    assert "span_clamped" in grid.notes


def test_a_wide_cell_stops_before_a_column_that_is_held() -> None:
    html = "<table><tr><td>a</td><td rowspan=2>b</td></tr><tr><td colspan=2>c</td></tr></table>"
    assert placed(html)[2] == (1, 0, 1, 1, "c")


def test_cells_never_overlap() -> None:
    grid = read_html(
        "<table>" + "<tr><td rowspan=3 colspan=4>x</td><td rowspan=2>y</td><td>z</td></tr>" * 6 + "</table>"
    )
    seen: set[tuple[int, int]] = set()
    for cell in grid.cells:
        area = {
            (row, column)
            for row in range(cell.row, cell.row + cell.row_span)
            for column in range(cell.column, cell.column + cell.column_span)
        }
        assert not area & seen
        seen |= area
    assert max(row for row, _ in seen) < grid.rows
    assert max(column for _, column in seen) < grid.columns


def test_unclosed_tags_are_closed() -> None:
    assert placed("<table><tr><td>a<td>b<tr><td>c") == [(0, 0, 1, 1, "a"), (0, 1, 1, 1, "b"), (1, 0, 1, 1, "c")]


def test_wrappers_are_dropped_and_no_word_with_them() -> None:
    html = (
        "<html><body><table><thead><tr><th>h</th></tr></thead><tbody><tr><td>x</td></tr></tbody></table></body></html>"
    )
    (part,) = parts(html)
    assert part.grid is not None
    assert [(cell.text, cell.header) for cell in part.grid.cells] == [("h", True), ("x", False)]


def test_words_between_cells_are_kept() -> None:
    grid = read_html("<table><caption>Prices</caption><tr><td>1</td></tr>left over</table>")
    assert "Prices" in grid.outside
    assert "left over" in grid.outside


def test_a_table_in_a_cell_becomes_words_of_the_cell() -> None:
    html = "<table><tr><td>a<table><tr><td>b</td><td>c</td></tr></table></td><td>d</td></tr></table>"
    grid = read_html(html)
    assert [cell.text.split() for cell in grid.cells] == [["a", "b", "c"], ["d"]]
    assert "nested_table" in grid.notes


def test_entities_and_breaks_in_cells() -> None:
    assert placed("<table><tr><td>a &lt;b&gt;<br/>c &amp; <b>d</b></td></tr></table>")[0][4] == "a <b>\nc & d"


def test_twenty_columns_stay_twenty() -> None:
    row = "<tr>" + "".join(f"<td>{n}</td>" for n in range(20)) + "</tr>"
    assert read_html(f"<table>{row * 3}</table>").columns == 20


def test_equal_cells_survive() -> None:
    grid = read_html("<table>" + ("<tr>" + "<td>0</td>" * 12 + "</tr>") * 40 + "</table>")
    assert (grid.rows, grid.columns, len(grid.cells)) == (40, 12, 480)


def test_a_table_of_any_claimed_size_stays_bounded() -> None:
    grid = read_html("<table>" + "<tr><td rowspan=999999999 colspan=999999999>x" * 3000)
    assert grid.columns <= MAX_COLUMNS
    assert grid.rows == 3000


def test_tables_beyond_the_bound_keep_their_words() -> None:
    grid = read_html("<table><tr>" + "<td>w</td>" * (MAX_COLUMNS + 5) + "</tr></table>")
    assert len(grid.cells) == MAX_COLUMNS
    assert grid.outside.split() == ["w"] * 5


def test_pipe_tables_have_a_header() -> None:
    grid = read_pipes(["| a | b \\| c |", "|---|:-:|", "| 1 | 2 |"])
    assert [(cell.text, cell.header) for cell in grid.cells] == [
        ("a", True),
        ("b | c", True),
        ("1", False),
        ("2", False),
    ]


def test_only_outermost_tables_are_found() -> None:
    text = "x<table><tr><td><table></table></td></tr></table>y<table>open"
    assert [text[start:end] for start, end in tables_in(text)] == [
        "<table><tr><td><table></table></td></tr></table>",
        "<table>open",
    ]
