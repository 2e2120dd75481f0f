import numpy as np
from PIL import Image, ImageDraw

from pageloom.engines.onnx.recognise import Glyph, Said
from pageloom.engines.onnx.spaces import respaced


def line(text: str, gaps: str, said: str, *, inner: int = 2, wide: int = 14, em: int = 12) -> tuple[Said, np.ndarray]:
    """A line of black bars, one a letter.

    Args:
        text: the letters.
        gaps: what is white after each letter: "." a little, "_" a word gap, "-" half a character.
        said: the text as it was read, spaces included.
    """
    x, places = 10, []
    for gap in gaps:
        places.append((x, x + em))
        x += em + {".": inner, "_": wide, "-": em // 2 + inner}[gap]
    image = Image.new("L", (x + 10, 40), 255)
    pen = ImageDraw.Draw(image)
    for start, end in places:
        pen.rectangle((start, 8, end - 1, 31), fill=0)
    glyphs, letter = [], iter(zip(text, places, strict=True))
    for char in said:
        if char == " ":
            glyphs.append(Glyph(" ", 0.9, 0, 0))
            continue
        _, (start, end) = next(letter)
        glyphs.append(Glyph(char, 0.9, start / image.width, end / image.width))
    return Said(tuple(glyphs)), np.repeat(np.asarray(image)[:, :, None], 3, axis=2)


def test_a_forgotten_space_is_put_where_the_gap_is_as_wide_as_the_others() -> None:
    said, crop = line("abcdefgh", "._._._..", "ab cd efgh")
    assert respaced(said, crop).text == "ab cd ef gh"


def test_a_space_without_a_gap_goes() -> None:
    said, crop = line("abcdefgh", "._._....", "ab cd ef gh")
    assert respaced(said, crop).text == "ab cd efgh"


def test_nothing_is_changed_where_a_line_has_no_spaces_to_measure_by() -> None:
    said, crop = line("abcdef", "._._..", "abcdef")
    assert respaced(said, crop).text == "abcdef"


def test_digits_are_never_parted() -> None:
    said, crop = line("ab12cdef", "._._._..", "ab 12cd ef")
    assert "12" in respaced(said, crop).text
    said, crop = line("abcd12ef", "._._._..", "ab cd 12ef")
    assert respaced(said, crop).text == "ab cd 12 ef"


def test_light_letters_on_dark_ground_have_gaps_too() -> None:
    said, crop = line("abcdefgh", "._._._..", "ab cd efgh")
    assert respaced(said, (255 - crop).astype(np.uint8)).text == "ab cd ef gh"


def test_no_space_stands_inside_brackets() -> None:
    said, crop = line("ab[cd]ef", "._..._..", "ab [cd ] ef")
    assert respaced(said, crop).text == "ab [cd] ef"


def test_chinese_loses_spaces_that_are_not_seen_and_keeps_those_that_are() -> None:
    said, crop = line("第一条为规范采购", "........", "第一条 为规范采购")
    assert respaced(said, crop).text == "第一条为规范采购"
    said, crop = line("第一条为规范采购", ".._.....", "第一条为规范采购")
    assert respaced(said, crop).text == "第一条 为规范采购"


def test_a_mark_with_a_characters_room_beside_chinese_becomes_full_width() -> None:
    said, crop = line("采购部,应答复", "..--...", "采购部,应答复")
    assert respaced(said, crop).text == "采购部，应答复"


def test_a_narrow_mark_beside_chinese_stays_ascii() -> None:
    said, crop = line("采购部,应答复", ".......", "采购部,应答复")
    assert respaced(said, crop).text == "采购部,应答复"


def test_marks_in_numbers_and_addresses_stay_ascii() -> None:
    said, crop = line("价款1,234元", "........", "价款1,234元")
    assert respaced(said, crop).text == "价款1,234元"
