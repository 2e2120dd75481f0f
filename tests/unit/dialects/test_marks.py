"""The grammar of place marks."""

import time
from pathlib import Path

import pytest

from pageloom.dialects.deepseek_ocr2.grounding import parse
from pageloom.dialects.deepseek_ocr2.marks import Marks, boxes_of
from pageloom.model.blocks import Caption, Figure, Paragraph, Table, text_of

DET = "<|det|>[[0, 0, 999, 999]]<|/det|>"


def words_of(text: str) -> str:
    return " ".join(text_of(event.block) for event in parse(text).events)


def test_corners_are_fractions_of_999() -> None:
    (box,) = boxes_of("[[0, 111, 333, 999]]") or ()
    assert (box.x0, box.y0, box.x1, box.y1) == pytest.approx((0, 1 / 9, 1 / 3, 1))


def test_a_mark_may_hold_several_boxes() -> None:
    assert len(boxes_of("[[1, 2, 3, 4], [5,6,7,8],\n[9, 10, 11, 12]]") or ()) == 3


def test_swapped_corners_are_put_right() -> None:
    (box,) = boxes_of("[[900, 800, 100, 200]]") or ()
    assert box.x0 < box.x1
    assert box.y0 < box.y1


@pytest.mark.parametrize(
    "hostile",
    [
        "",
        "[]",
        "[[]]",
        "[[1, 2, 3]]",
        "[[1, 2, 3, 4, 5]]",
        "[[1, 2, 3, 1001]]",
        "[[1, 2, 3, -4]]",
        "[[1.5, 2, 3, 4]]",
        "[[1e3, 2, 3, 4]]",
        "[[0x1, 2, 3, 4]]",
        "[[" + "9" * 100_000 + ", 2, 3, 4]]",
        "[[[[1, 2, 3, 4]]]]",
        "[[1, 2, 3, 4]",
        "[[1, 2, 3, 4]], [[5, 6, 7, 8]]",
        "__import__('os').system('true')",
        "[[1, 2, 3, 4]] or exit()",
        "[[１, 2, 3, 4]] #",
        "[" * 50_000,
    ],
)
def test_what_is_no_list_of_corners_gives_no_box(hostile: str) -> None:
    assert boxes_of(hostile) is None


def test_code_in_a_box_field_is_kept_as_words_and_never_run(tmp_path: Path) -> None:
    target = tmp_path / "made"
    code = f"open({str(target)!r}, 'w').close()"
    parsed = parse(f"<|ref|>text<|/ref|><|det|>{code}<|/det|>\nafter")
    assert not target.exists()
    assert "open(" in " ".join(text_of(event.block) for event in parsed.events)
    assert "bad_grounding" in parsed.notes
    assert all(not event.block.regions for event in parsed.events)


def test_words_before_the_first_mark_are_kept() -> None:
    first, second = (event.block for event in parse(f"Before.\n\n<|ref|>text<|/ref|>{DET}\nAfter.").events)
    assert (first.text, first.regions) == ("Before.", ())
    assert second.text == "After."


def test_an_unknown_label_is_running_text_and_told() -> None:
    (event,) = parse(f"<|ref|>weather_map<|/ref|>{DET}\nRain.").events
    assert isinstance(event.block, Paragraph)
    assert "label:weather_map" in event.block.notes


def test_a_mark_cut_off_in_its_boxes_keeps_its_label_and_no_box() -> None:
    parsed = parse("<|ref|>title<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\n# A\n\n<|ref|>text<|/ref|><|det|>[[12, 3")
    assert "cut_mark" in parsed.notes
    assert words_of("<|ref|>text<|/ref|><|det|>[[12, 3") == ""


def test_a_label_cut_off_is_no_word_but_running_text_after_a_stray_mark_is() -> None:
    assert words_of("Hello\n<|ref|>tit") == "Hello"
    assert "whole paragraph" in words_of("<|ref|>A whole paragraph of the page")


def test_a_mark_without_boxes_keeps_its_words() -> None:
    assert words_of("<|ref|>text<|/ref|>\nHello\n<|ref|>text<|/ref|>\nWorld") == "Hello World"


def test_two_marks_in_a_row_share_the_words_after_them() -> None:
    text = (
        "<|ref|>table<|/ref|><|det|>[[0, 100, 999, 500]]<|/det|>\n"
        "<|ref|>table_caption<|/ref|><|det|>[[0, 50, 999, 90]]<|/det|>\n"
        "Table 1: Gauges\n\n<table><tr><td>a</td><td>b</td></tr></table>\n"
    )
    table, caption = (event.block for event in parse(text).events)
    assert isinstance(table, Table)
    assert [cell.text for cell in table.cells] == ["a", "b"]
    assert table.regions[0].box.y0 == pytest.approx(100 / 999)
    assert isinstance(caption, Caption)
    assert (caption.text, caption.parent) == ("Table 1: Gauges", table.id)


def test_a_figure_has_no_words_and_its_caption_belongs_to_it() -> None:
    text = f"<|ref|>image<|/ref|>{DET}\n<|ref|>image_caption<|/ref|>{DET}\n<center>Figure 1: A dam.</center>"
    figure, caption = (event.block for event in parse(text).events)
    assert isinstance(figure, Figure)
    assert (caption.text, caption.parent) == ("Figure 1: A dam.", figure.id)


def test_special_tokens_never_reach_the_words() -> None:
    text = f"<|ref|>text<|/ref|>{DET}\nHello<|/ref|> big<|Assistant|> world<｜end▁of▁sentence｜><｜▁pad▁｜><image>"
    assert words_of(text) == "Hello big world"


def test_the_first_segment_ends_before_the_answer_does() -> None:
    marks = Marks()
    ended = marks.feed(f"<|ref|>text<|/ref|>{DET}\nOne.\n\n<|ref|>text<|/ref|>{DET}\nTw")
    assert [segment.text.strip() for segment in ended] == ["One."]


def test_logprobs_belong_to_the_segment_whose_words_they_are() -> None:
    marks = Marks()
    for piece in ("<|ref|>text<|/ref|>", DET):
        marks.feed(piece, [-9.0])
    marks.feed("Hello", [-0.1])
    marks.feed("\n\n<|ref|>", [-9.0])
    (segment,) = marks.feed("text<|/ref|><|det|>[[1,2,3,4]]<|/det|>", [-9.0])
    assert segment.logprobs == [-0.1]


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "<|det|>",
        "<|ref|>",
        "<|ref|>a<|/ref|>",
        "<",
        "<|",
        "[[1,2,3,4],",
        "<table>",
        "<td>",
        "**a",
        "|-",
        "\\[",
        "#",
    ],
)
def test_a_megabyte_takes_time_in_proportion(unit: str) -> None:
    """Four times the text may cost six times the time, never sixteen."""

    def seconds(size: int) -> float:
        text = "<|det|>" + unit * (size // len(unit))
        began = time.process_time()
        parse(text)
        return time.process_time() - began

    small = max(seconds(60_000), 0.02)
    assert seconds(240_000) < 10 * small
