"""Glyphs to lines without a PDF: directions, marks, ligatures, odd characters."""

import pytest

from pageloom.model.geometry import PageSize
from pageloom.sources.characters import UNKNOWN, character, composed
from pageloom.sources.glyphs import SPACE_GUESSED, SPACE_NONE, SPACE_WRITTEN, Glyph, Style, along
from pageloom.sources.lines import lines_from
from pageloom.sources.pdf_text import font_look, without_doubles

PAGE = PageSize(600, 800)
PLAIN = Style(10.0)


def glyph(
    text: str, x: float, y: float = 100, *, width: float = 5, style: Style = PLAIN, space: int = SPACE_NONE
) -> Glyph:
    return Glyph(text, x + 0.5, y - 7, x + width - 0.5, y, x, x + width, x, y, style, space)


def row(text: str, x: float = 50, y: float = 100, *, width: float = 5, style: Style = PLAIN) -> list[Glyph]:
    out, space = [], SPACE_NONE
    for at, char in enumerate(text):
        if char == " ":
            space = SPACE_WRITTEN
            continue
        out.append(glyph(char, x + at * width, y, width=width, style=style, space=space))
        space = SPACE_NONE
    return out


def texts(glyphs: list[Glyph]) -> list[str]:
    return [line.text for line in lines_from(glyphs, PAGE)]


def test_guessed_space_needs_room() -> None:
    close = [glyph("a", 50), glyph("b", 55.3, space=SPACE_GUESSED)]
    apart = [glyph("a", 50), glyph("b", 56.5, space=SPACE_GUESSED)]
    assert texts(close) == ["ab"]
    assert texts(apart) == ["a b"]


def test_wide_characters_have_no_spaces_between_them() -> None:
    justified = [glyph("中", 50, width=10), glyph("文", 63, width=10, space=SPACE_GUESSED), glyph("字", 73, width=10)]
    assert texts(justified) == ["中文字"]


def test_vertical_writing_runs_down() -> None:
    column = [
        glyph(char, 300, 100 + 11 * at, width=10, style=PLAIN._replace(source=1)) for at, char in enumerate("日本語")
    ]
    line = lines_from(column, PAGE)[0]
    assert (line.text, line.angle) == ("日本語", 90.0)
    assert line.box.height > 2.5 * line.box.width * PAGE.width / PAGE.height


def test_digits_below_each_other_are_no_vertical_line() -> None:
    numbers = [glyph(str(at), 50, 100 + 12 * at, style=PLAIN._replace(source=at)) for at in range(1, 4)]
    assert texts(numbers) == ["1", "2", "3"]


def test_right_to_left_stays_in_logical_order() -> None:
    # Logical order, drawn from the right: "שלום" and then "abc" to its left.
    hebrew = [glyph(char, 200 - 5 * at) for at, char in enumerate("שלום")]
    latin = [glyph(char, 160 + 5 * at, space=SPACE_WRITTEN if at == 0 else SPACE_NONE) for at, char in enumerate("abc")]
    line = lines_from([*hebrew, *latin], PAGE)
    assert " ".join(one.text for one in line).split() == ["שלום", "abc"]


def test_reversed_parts_of_a_ligature_are_put_right() -> None:
    box = {"x": 100.0, "width": 8.0}
    parts = [glyph("ا", **box), glyph("ل", **box), glyph("م", 95)]
    assert "".join(one.text for one in composed(parts)) == "لام"


def test_vowel_mark_follows_its_letter() -> None:
    mark = Glyph("ً", 91, 90, 94, 93, 91, 91, 91, 100, PLAIN, SPACE_GUESSED)
    letters = [glyph("ي", 100), mark, glyph("ض", 90, width=10), glyph("ا", 85)]
    out = composed(letters)
    assert "".join(one.text for one in out) == "يضًا"
    assert out[2].space == SPACE_NONE


def test_accent_drawn_apart_joins_its_letter() -> None:
    accent = Glyph("´", 51.5, 90, 53.5, 92, 50, 55, 50, 100, PLAIN)
    assert [one.text for one in composed([accent, glyph("e", 50), glyph("t", 55), glyph("e", 60)])] == ["é", "t", "e"]


def test_accent_that_stands_alone_stays() -> None:
    assert [one.text for one in composed([glyph("`", 50), glyph("x", 80)])] == ["`", "x"]


def test_tex_ligatures_spoilt_by_apple_are_guessed() -> None:
    style = Style(10.0, font="CMR10")
    line = [*row("o", 50, style=style), *row("↵", 55, style=style), *row("er", 60, style=style)]
    line += [*row("di", 80, style=style), *row(UNKNOWN, 90, style=style), *row("cult", 95, style=style)]
    assert "".join(one.text for one in composed(line)) == "offerdifficult"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0x41, "A"),
        (0xFB03, "ffi"),
        (0x2F45, "方"),
        (0xFEFB, "لا"),
        (0xF0B7, "•"),
        (0xF041, "A"),
        (0x01, UNKNOWN),
        (0xD800, UNKNOWN),
        (0x110000, UNKNOWN),
        (0x1F600, "😀"),
        (0x3002, "。"),
    ],
)
def test_codes_become_plain_characters(code: int, text: str) -> None:
    assert character(code) == text


@pytest.mark.parametrize(
    ("name", "flags", "look"),
    [
        ("ABCDEF+Helvetica-Bold", 0, ("Helvetica-Bold", True, False, False)),
        ("Georgia", 0, ("Georgia", False, False, False)),
        ("CMTI10", 1, ("CMTI10", False, True, False)),
        ("CMR10", 1, ("CMR10", False, False, False)),
        ("Courier", 0, ("Courier", False, False, True)),
        ("Unknown", 1 << 0 | 1 << 6 | 1 << 18, ("Unknown", True, True, True)),
    ],
)
def test_looks_of_fonts(name: str, flags: int, look: tuple[str, bool, bool, bool]) -> None:
    assert font_look(name, flags) == look


def test_letters_close_to_each_other_are_no_doubles() -> None:
    assert len(without_doubles(row("illllllli", width=2.2))) == 9


def test_doubles_with_an_offset_are_dropped() -> None:
    line = row("Bold")
    shadow = [one._replace(x=one.x + 0.4, x0=one.x0 + 0.4, x1=one.x1 + 0.4) for one in line]
    assert len(without_doubles([*line, *shadow])) == 4


@pytest.mark.parametrize("angle", [0, 10, 30, 90, 150, 180, 270, 340])
def test_length_along_a_slanted_line(angle: float) -> None:
    import math

    cos, sin = abs(math.cos(math.radians(angle))), abs(math.sin(math.radians(angle)))
    width, height = 6 * cos + 9 * sin, 6 * sin + 9 * cos
    assert along(angle, width, height, 12) == pytest.approx(6, abs=0.01)


def test_boxes_stay_on_the_page() -> None:
    for line in lines_from([*row("edge", -10), *row("corner", 580, 799)], PAGE):
        assert 0 <= line.box.x0 <= line.box.x1 <= 1
        assert 0 <= line.box.y0 <= line.box.y1 <= 1
