import numpy as np
import pytest

from pageloom.engines.onnx.recognise import Glyph, Said
from pageloom.engines.onnx.words import words_of

CORNERS = np.array([[0.1, 0.1], [0.9, 0.1], [0.9, 0.2], [0.1, 0.2]], np.float32)


def said(text: str) -> Said:
    return Said(tuple(Glyph(char, 0.9, n / len(text), (n + 1) / len(text)) for n, char in enumerate(text)))


def test_latin_words_are_parted_at_spaces_with_their_share_of_the_line() -> None:
    one, two = words_of(said("ab cd"), CORNERS, 0)
    assert (one.text, two.text) == ("ab", "cd")
    assert (one.box.x0, one.box.x1) == pytest.approx((0.1, 0.42))
    assert (two.box.x0, two.box.x1) == pytest.approx((0.58, 0.9))
    assert (one.box.y0, one.box.y1) == pytest.approx((0.1, 0.2))


def test_chinese_and_latin_runs_are_words_of_their_own() -> None:
    assert [word.text for word in words_of(said("使用Python编写，共3行"), CORNERS, 0)] == [
        "使用",
        "Python",
        "编写，共",
        "3",
        "行",
    ]


def test_words_of_a_line_that_runs_down_start_at_the_top() -> None:
    corners = np.array([[0.1, 0.1], [0.2, 0.1], [0.2, 0.9], [0.1, 0.9]], np.float32)
    one, two = words_of(said("ab cd"), corners, 90)
    assert one.box.y0 == pytest.approx(0.1)
    assert two.box.y1 == pytest.approx(0.9)


def test_words_of_a_line_that_runs_up_start_at_the_bottom() -> None:
    corners = np.array([[0.1, 0.1], [0.2, 0.1], [0.2, 0.9], [0.1, 0.9]], np.float32)
    one, two = words_of(said("ab cd"), corners, 270)
    assert one.box.y1 == pytest.approx(0.9)
    assert two.box.y0 == pytest.approx(0.1)
