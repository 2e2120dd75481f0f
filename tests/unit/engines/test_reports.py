"""Eleven reports of real users about model output, each as the kind of answer that caused it."""

import asyncio
import re

from tests.engines.cousins import scripted

from pageloom.model.blocks import ListItem, Paragraph, Table, text_of
from pageloom.model.reading import PageRequest, Reading
from pageloom.pipeline.ladder import fault_of

BOX = "<|det|>[[100, 100, 900, 200]]<|/det|>"
HEAD = "Account statement 31.08.2024, account 1234 5678 90, page 1 of 3, your adviser is A. Miller, Bridge Street 4."


def read(text: str, finish: str = "stop") -> Reading:
    async def go() -> Reading:
        items = [item async for item in scripted({"text": text, "finish": finish}).read(PageRequest(1, None, None))]
        assert isinstance(items[-1], Reading)
        return items[-1]

    return asyncio.run(go())


def words(reading: Reading) -> str:
    return "\n".join(text_of(block) for block in reading.blocks)


def test_1_invented_numbers_are_cut_and_told() -> None:
    reading = read(f"<|ref|>text<|/ref|>{BOX}\n项目名称\n" + "\n".join(str(n) for n in range(1, 9000)))
    assert reading.finish == "loop"
    assert reading.output_tokens < 1500
    assert fault_of(reading) == "loop"
    assert "项目名称" in words(reading)


def test_1_a_word_printed_126_times_is_read_to_its_end() -> None:
    reading = read(
        f"<|ref|>text<|/ref|>{BOX}\n" + "\n\n".join(" ".join(["项目名称"] * 9) for _ in range(14)) + "\n\nEND"
    )
    assert reading.finish == "stop"
    assert words(reading).endswith("END")


def test_2_a_page_head_that_comes_again_and_again_is_kept_once() -> None:
    reading = read(f"<|ref|>text<|/ref|>{BOX}\n{HEAD}\n\n" * 20)
    assert reading.finish == "loop"
    assert words(reading).count(HEAD) <= 2


def test_3_doubled_text_is_never_silently_good() -> None:
    reading = read(f"<|ref|>text<|/ref|>{BOX}\n" + "De brug over de rivier werd in 1921 gebouwd. " * 300)
    assert fault_of(reading)
    assert "loop_cut" in reading.notes


def test_4_an_empty_answer_is_told_and_breaks_nothing() -> None:
    reading = read("<｜end▁of▁sentence｜>")
    assert reading.blocks == ()
    assert fault_of(reading) == "empty_answer"


def test_5_every_list_item_has_a_line_of_its_own() -> None:
    items = ["offers for the half year, with all branches", "Shortly after, the mill was sold", "the rest stayed"]
    reading = read(f"<|ref|>text<|/ref|>{BOX}\n" + "\n".join(f"- {item}" for item in items))
    assert [block.text for block in reading.blocks if isinstance(block, ListItem)] == items


def test_6_a_table_cut_at_the_limit_leaks_no_token_and_is_closed() -> None:
    rows = "".join(f"<tr><td>{n}</td><td>Pump no. {n * 7}</td></tr>" for n in range(1, 60))
    reading = read(f"<|ref|>table<|/ref|>{BOX}\n<table>{rows}<tr><td>60</td><td>Pu<|/det|><｜▁pad▁｜>", "length")
    (table,) = (block for block in reading.blocks if isinstance(block, Table))
    assert table.rows == 60
    assert not re.search(r"<\||｜", words(reading))
    assert fault_of(reading) == "length"
    assert reading.finish == "length"


def test_7_a_table_of_twenty_columns_keeps_its_last_two() -> None:
    head = "<tr><td colspan=2>both</td>" + "".join(f"<td>c{n}</td>" for n in range(3, 21)) + "</tr>"
    body = "<tr>" + "".join(f"<td>{n}</td>" for n in range(1, 21)) + "</tr>"
    (table,) = read(f"<|ref|>table<|/ref|>{BOX}\n<table>{head}{body}</table>").blocks
    assert isinstance(table, Table)
    assert table.columns == 20
    assert table.cells[-1].column == 19


def test_8_spans_are_those_that_are_written_and_fit() -> None:
    html = "<table><tr><td rowspan=3>a</td><td>b</td></tr><tr><td>c</td></tr><tr><td>d</td></tr></table>"
    (table,) = read(f"<|ref|>table<|/ref|>{BOX}\n{html}").blocks
    assert isinstance(table, Table)
    assert [(cell.row, cell.row_span) for cell in table.cells] == [(0, 3), (0, 1), (1, 1), (2, 1)]


def test_9_no_wrapper_is_left_around_a_table() -> None:
    reading = read(f"<|ref|>table<|/ref|>{BOX}\n<html><body><table><tr><td>x</td></tr></table></body></html>")
    assert [type(block) for block in reading.blocks] == [Table]
    assert "body" not in words(reading)


def test_10_full_width_marks_stay_and_ascii_stays_in_addresses() -> None:
    text = "本站于一九六三年设立，观测水位、流量；网址：https://a.example/x,y，共1,234人。"
    assert words(read(f"<|ref|>text<|/ref|>{BOX}\n{text}")) == text


def test_11_columns_stay_in_the_order_in_which_they_were_read() -> None:
    left = [
        f"<|ref|>text<|/ref|><|det|>[[50, {n * 90}, 480, {n * 90 + 80}]]<|/det|>\nleft {n}\n\n" for n in range(1, 5)
    ]
    right = [
        f"<|ref|>text<|/ref|><|det|>[[520, {n * 90}, 950, {n * 90 + 80}]]<|/det|>\nright {n}\n\n" for n in range(1, 5)
    ]
    reading = read("".join(left + right))
    assert [block.text for block in reading.blocks if isinstance(block, Paragraph)] == [
        *(f"left {n}" for n in range(1, 5)),
        *(f"right {n}" for n in range(1, 5)),
    ]
    assert [block.order for block in reading.blocks] == list(range(8))
