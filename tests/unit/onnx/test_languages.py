import numpy as np
import pytest

from pageloom.engines.onnx.detect import Quad
from pageloom.engines.onnx.languages import MUTE, mute_quads, mute_share, unread
from pageloom.engines.onnx.lines import ReadLine, mean_score
from pageloom.engines.onnx.recognise import Glyph, Said
from pageloom.engines.onnx.tesseract import Tesseract, _lines, mean_confidence


def line(text: str, width: float = 200, score: float = 0.9, sure: float = 0.9) -> ReadLine:
    corners = np.array([[0, 0], [width, 0], [width, 20], [0, 20]], np.float32)
    glyphs = tuple(Glyph(char, sure, 0, 1) for char in text)
    return ReadLine(Quad(corners, score), Said(glyphs))


def test_languages_beyond_the_dictionary_are_known_by_their_tag() -> None:
    assert unread(["ko-KR", "en", "RU"]) == ["kor", "rus"]
    assert unread(["zh-Hant", "ja", "de"]) == []


def test_text_that_gives_marks_but_no_letters_is_mute() -> None:
    korean = [line(" , . - "), line("  "), line("1.5%", 60)]
    assert mute_share(korean) > MUTE
    assert len(mute_quads(korean)) == 2


def test_print_that_is_read_is_not_mute() -> None:
    assert mute_share([line("The committee met on")] * 5 + [line("—", 40)]) < 0.1
    assert mute_share([line("委员会讨论了本年度的预")] * 3) == 0.0


def test_a_page_with_hardly_any_text_is_not_judged() -> None:
    assert mute_share([line("", 60)]) == 0.0
    assert mute_share([line("", 600, score=0.45)]) == 0.0


def test_the_mean_score_is_weighed_by_characters() -> None:
    assert mean_score([line("a" * 9, sure=1.0), line("a", sure=0.5)]) == pytest.approx(0.95)
    assert mean_score([]) == 1.0


TABLE = (
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
    "4\t1\t1\t1\t1\t0\t10\t20\t200\t30\t-1\t\n"
    "5\t1\t1\t1\t1\t1\t10\t20\t90\t30\t96.5\tПривет,\n"
    '5\t1\t1\t1\t1\t2\t110\t20\t100\t30\t90\t"мир\n'
    "5\t1\t1\t1\t2\t1\t10\t60\t30\t30\t80\t한\n"
    "5\t1\t1\t1\t2\t2\t42\t60\t30\t30\t80\t글\n"
    "5\t1\t1\t1\t2\t3\t90\t60\t30\t30\t80\t책\n"
)


def test_lines_and_words_come_out_of_tesseracts_table() -> None:
    first, second = _lines(TABLE, (400, 200), 150.0)
    assert first.text == 'Привет, "мир'
    assert (first.box.x0, first.box.y1) == (10 / 400, 50 / 200)
    assert [word.confidence for word in first.words] == [0.965, 0.9]
    assert second.text == "한글 책"
    assert mean_confidence([first, second]) == pytest.approx(0.88, abs=0.03)


def test_an_empty_or_broken_table_gives_no_lines() -> None:
    assert list(_lines("", (10, 10), 150.0)) == []
    assert mean_confidence([]) == 0.0


def test_a_program_that_fails_gives_no_lines() -> None:
    broken = Tesseract("/nowhere/tesseract", frozenset({"kor"}))
    assert broken.lines(np.full((20, 20, 3), 255, np.uint8), ["kor"], 150.0) == []
