"""Pages of PDFs: sizes, pixels, boxes, what is seen and what is not."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pikepdf
import pytest

from pageloom.contracts import SourceOptions
from pageloom.model.geometry import Box
from pageloom.model.image import DrawnPage, PageText, Target, TextLine
from pageloom.sources.pdf import FACTORY

Make = Callable[..., Path]
SMALL = Target(dpi=72.0, longest_px=2000, shortest_px=10)


def words(text: str, x: float = 50, y: float = 200, size: float = 12, font: str = "F1", before: str = "") -> str:
    return f"BT {before} /{font} {size} Tf {x} {y} Td ({text}) Tj ET\n"


def drawn(path: Path, target: Target | None = SMALL, **options: object) -> DrawnPage:
    source = FACTORY.open(path, None, SourceOptions.model_validate(options))
    try:
        return source.draw(1, target)
    finally:
        source.close()


def layer(path: Path) -> PageText:
    text = drawn(path, None).text
    assert text is not None
    return text


def texts(path: Path) -> list[str]:
    return [line.text for line in layer(path).lines]


def ink_box(page: DrawnPage) -> Box:
    assert page.image is not None
    rows, columns = np.nonzero(page.image.rgb.min(axis=2) < 128)
    height, width = page.image.rgb.shape[:2]
    return Box(columns.min() / width, rows.min() / height, (columns.max() + 1) / width, (rows.max() + 1) / height)


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("unit", [1, 2.5])
@pytest.mark.parametrize("box", [[0, 0, 400, 300], [-57, -54, 343, 246], [343, 246, -57, -54]])
def test_glyph_boxes_lie_on_the_drawn_ink(pdf: Make, rotate: int, unit: float, box: list[int]) -> None:
    keys = {"/Rotate": rotate, "/UserUnit": unit, "/MediaBox": pikepdf.Array(box)}
    page = drawn(pdf(words("HIHIH", 100, 60, 40), page=keys))
    assert page.text is not None
    line = page.text.lines[0]
    ink = ink_box(page)
    assert line.text == "HIHIH"
    assert line.angle == rotate
    assert line.size == pytest.approx(40 * unit, abs=0.1)
    # Ink lies in the line's box, which reaches down to where descenders would be.
    assert ink.covered_by(line.box) > 0.97
    assert line.box.iou(ink) > 0.7


def test_size_is_as_shown(pdf: Make) -> None:
    page = drawn(pdf(words("x"), page={"/Rotate": 90, "/UserUnit": 2, "/CropBox": pikepdf.Array([0, 0, 200, 100])}))
    assert (page.info.size.width, page.info.size.height) == (200, 400)
    assert page.image is not None
    assert page.image.rgb.shape == (400, 200, 3)


@pytest.mark.parametrize(("width", "height"), [(595, 842), (14400, 14400), (20000, 30), (30, 20000), (3, 3), (100, 50)])
def test_pixels_are_bounded_whatever_the_size(pdf: Make, width: float, height: float) -> None:
    target = Target()
    page = drawn(pdf(words("x"), page={"/MediaBox": pikepdf.Array([0, 0, width, height])}), target)
    assert page.image is not None
    shape = page.image.rgb.shape
    assert target.shortest_px - 1 <= max(shape[:2]) <= target.longest_px + 1
    assert page.image.dpi == pytest.approx(max(shape[:2]) * 72 / max(width, height), rel=0.01)


def test_pixel_limit_makes_the_page_smaller(pdf: Make) -> None:
    page = drawn(pdf(words("x")), Target(dpi=600, longest_px=9000), max_pixels=250_000)
    assert page.image is not None
    assert page.image.rgb.size // 3 <= 255_000


def test_colour_is_noticed(pdf: Make) -> None:
    page = drawn(pdf(words("x") + "1 0 0 rg 10 10 50 50 re f"))
    grey = drawn(pdf(words("x") + "0.4 g 10 10 50 50 re f", name="grey.pdf"))
    assert page.image is not None
    assert grey.image is not None
    assert page.image.colour
    assert not grey.image.colour


def test_lines_words_and_fonts(pdf: Make) -> None:
    content = words("Big title", y=250, size=20, font="F2") + words("plain words here", y=200)
    content += words("code()", y=170, font="F3") + words("slanted", y=140, font="F4")
    lines = layer(pdf(content)).lines
    assert [line.text for line in lines] == ["Big title", "plain words here", "code()", "slanted"]
    assert [(line.bold, line.italic, line.mono) for line in lines] == [
        (True, False, False),
        (False, False, False),
        (False, False, True),
        (False, True, False),
    ]
    assert [line.size for line in lines] == [20, 12, 12, 12]
    assert [word.text for word in lines[1].words] == ["plain", "words", "here"]
    boxes = [word.box for word in lines[1].words]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))
    assert lines[0].confidence.basis == "text-layer"


def test_words_without_space_characters_are_parted_by_their_gaps(pdf: Make) -> None:
    # TeX moves between words instead of writing spaces: 0.3 em here, kerning of 0.05 em inside a word.
    content = "BT /F1 10 Tf 50 200 Td [(Two) -300 (w) 50 (ords)] TJ ET"
    assert texts(pdf(content)) == ["Two words"]


def test_columns_are_not_one_line(pdf: Make) -> None:
    content = words("left column", 50) + words("right column", 220) + words("left again", 50, 180)
    assert texts(pdf(content)) == ["left column", "right column", "left again"]


def test_pieces_of_a_line_from_different_places_of_the_file_join(pdf: Make) -> None:
    content = words("The ", 50) + words("footer", 50, 20) + words("bold", 74, font="F2") + words(" word", 100)
    assert sorted(texts(pdf(content))) == ["The bold word", "footer"]


def test_ruling_parts_cells(pdf: Make) -> None:
    cells = words("one", 52) + words("two", 76)
    ruled = cells + "0.5 w 73 190 m 73 220 l S"
    assert texts(pdf(cells)) == ["one two"]
    assert texts(pdf(ruled, name="ruled.pdf")) == ["one", "two"]


def test_superscript_stays_in_its_line(pdf: Make) -> None:
    content = "BT /F1 12 Tf 50 200 Td (E = mc) Tj /F1 8 Tf 5 Ts (2) Tj ET"
    assert texts(pdf(content)) == ["E = mc2"]


def test_print_drawn_twice_is_read_once_and_counted(pdf: Make) -> None:
    page = [(f"Bold by hand {number}", 280 - 20 * number) for number in range(12)]
    once = "".join(words(text, 50, y) for text, y in page)
    again = "".join(words(text, 50.3, y + 0.2) for text, y in page)
    text = layer(pdf(once + again))
    assert [line.text for line in text.lines] == [text for text, _ in page]
    assert text.health.doubled == pytest.approx(0.5)
    assert texts(pdf(words("fill all coffee, bookkeeper"), name="letters.pdf")) == ["fill all coffee, bookkeeper"]


def seen(path: Path) -> dict[str, bool]:
    return {line.text: line.seen for line in layer(path).lines}


def test_invisible_text_is_told_apart(pdf: Make) -> None:
    path = pdf(words("visible") + words("hidden", y=150, before="3 Tr"))
    assert seen(path) == {"visible": True, "hidden": False}
    assert layer(path).health.invisible == pytest.approx(6 / 13)


def test_text_outside_the_page_is_not_seen(pdf: Make) -> None:
    assert seen(pdf(words("inside") + words("outside", x=50, y=900))) == {"inside": True, "outside": False}


def test_text_under_an_opaque_area_is_not_seen(pdf: Make) -> None:
    cover = "1 g 40 140 200 30 re f 0 g "
    path = pdf(words("above") + words("redacted", y=150) + cover + words("written over", y=145))
    assert seen(path) == {"above": True, "redacted": False, "written over": True}


@pytest.mark.parametrize(
    "later",
    [
        "0.9 g 40 140 m 300 140 l 40 260 l f",
        "0.9 g 40 140 m 300 140 l 40 260 m 300 260 l f",
        "q 300 10 50 50 re W n 0.9 g 0 0 400 300 re f Q",
    ],
    ids=["triangle", "two lines", "clipped away"],
)
def test_shapes_that_leave_the_text_free_hide_nothing(pdf: Make, later: str) -> None:
    assert seen(pdf(words("free to see", x=200, y=210) + later)) == {"free to see": True}


def test_white_text_is_seen_on_a_dark_ground_only(pdf: Make) -> None:
    white = "1 g " + words("on a bar", y=205) + words("on paper", y=100)
    path = pdf("0 0 0.5 rg 40 195 200 30 re f\n" + white + "0 g " + words("black", y=50))
    assert seen(path) == {"on a bar": True, "on paper": False, "black": True}


def test_white_text_on_a_thick_line_is_seen(pdf: Make) -> None:
    assert seen(pdf("20 w 40 205 m 300 205 l S 1 g " + words("head", y=200))) == {"head": True}


@pytest.mark.parametrize("angle", [17, 90, 200, 270, 45])
def test_slanted_lines_tell_their_angle(pdf: Make, angle: int) -> None:
    # PDF's y points up, so that a turn to the left is a negative angle clockwise.
    cos, sin = math.cos(math.radians(-angle)), math.sin(math.radians(-angle))
    content = f"BT /F1 12 Tf {cos:.6f} {sin:.6f} {-sin:.6f} {cos:.6f} 200 150 Tm (Slanted line of text) Tj ET"
    line = layer(pdf(content)).lines[0]
    assert line.text == "Slanted line of text"
    assert line.angle == angle
    assert line.size == pytest.approx(12, abs=0.1)
    assert len(line.words) == 4


def test_text_inside_form_objects_has_its_true_place_and_size(pdf: Make) -> None:
    path = pdf("q 2 0 0 2 20 20 cm /Fm Do Q")
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        page = document.pages[0].obj
        form = document.make_stream(b"BT /F1 10 Tf 10 20 Td (Inside) Tj ET 0.5 w 10 10 m 90 10 l S")
        form.Type, form.Subtype = pikepdf.Name("/XObject"), pikepdf.Name("/Form")
        form.BBox = pikepdf.Array([0, 0, 100, 100])
        form.Resources = page.Resources
        page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(Fm=form))
        document.save(path)
    page_ = drawn(path)
    assert page_.text is not None
    line: TextLine = page_.text.lines[0]
    ruling = page_.text.rulings[0]
    assert line.size == pytest.approx(20)
    assert line.box.x0 == pytest.approx(40 / 400, abs=0.01)
    assert ruling.y0 == pytest.approx((300 - 40) / 300, abs=0.01)
    assert (ruling.x0, ruling.x1) == (pytest.approx(0.1, abs=0.01), pytest.approx(0.5, abs=0.01))


def test_rulings_from_strokes_bars_and_boxes(pdf: Make) -> None:
    content = "0.5 w 50 250 m 350 250 l S 50 200 300 0.8 re f 50 100 100 50 re S 0.5 g 200 100 60 60 re f"
    rulings = layer(pdf(content)).rulings
    horizontal = [r for r in rulings if r.y0 == r.y1]
    vertical = [r for r in rulings if r.x0 == r.x1]
    assert len(horizontal) == 2 + 2 + 2
    assert len(vertical) == 2 + 2


def test_white_and_short_strokes_are_no_rulings(pdf: Make) -> None:
    assert layer(pdf("1 G 50 250 m 350 250 l S 0 G 50 50 m 53 50 l S")).rulings == ()


def test_page_whose_picture_stays_blank_is_suspect(pdf: Make) -> None:
    blank = drawn(pdf(words("nothing to see", before="1 g")))
    assert blank.notes == ("render_suspect_blank",)
    assert drawn(pdf(words("black on white"), name="good.pdf")).notes == ()
    assert drawn(pdf("", name="empty.pdf")).notes == ()


def test_filled_form_fields_are_read(pdf: Make) -> None:
    path = pdf(words("Name:"))
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        page = document.pages[0].obj
        look = document.make_stream(b"/Tx BMC BT /F1 12 Tf 2 4 Td (Ada Lovelace) Tj ET EMC")
        look.Type, look.Subtype = pikepdf.Name("/XObject"), pikepdf.Name("/Form")
        look.BBox, look.Resources = pikepdf.Array([0, 0, 150, 20]), page.Resources
        field = pikepdf.Dictionary(
            Type=pikepdf.Name("/Annot"),
            Subtype=pikepdf.Name("/Widget"),
            FT=pikepdf.Name("/Tx"),
            T="name",
            V="Ada Lovelace",
            F=4,
            Rect=pikepdf.Array([100, 196, 250, 216]),
            AP=pikepdf.Dictionary(N=look),
        )
        page.Annots = pikepdf.Array([document.make_indirect(field)])
        document.Root.AcroForm = pikepdf.Dictionary(Fields=page.Annots)
        document.save(path)
    assert "Ada Lovelace" in " ".join(texts(path))


def test_scripts_and_links_are_never_followed(pdf: Make, tmp_path: Path) -> None:
    path = pdf(words("<script>alert\\(1\\)</script>"))
    target = tmp_path / "touched"
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        script = f"app.launchURL('file://{target}'); this.saveAs('{target}');"
        document.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name("/JavaScript"), JS=script)
        document.pages[0].obj.AA = pikepdf.Dictionary(O=pikepdf.Dictionary(S=pikepdf.Name("/JavaScript"), JS=script))
        document.save(path)
    assert texts(path) == ["<script>alert(1)</script>"]
    assert not target.exists()


def test_text_only_draws_nothing(pdf: Make) -> None:
    assert drawn(pdf(words("text")), None).image is None


def test_same_page_twice_is_the_same(pdf: Make) -> None:
    path = pdf(words("again and again"))
    one, other = drawn(path), drawn(path)
    assert one.text == other.text
    assert one.image is not None
    assert other.image is not None
    assert np.array_equal(one.image.rgb, other.image.rgb)


def test_type_3_letters_have_the_size_they_are_seen_at(pdf: Make) -> None:
    path = pdf("BT /T3 1 Tf 100 100 Td [(ab) -6 (ba)] TJ ET")
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        shape = document.make_stream(b"8 0 0 0 6 8 d1 0 0 6 8 re f")
        document.pages[0].obj.Resources.Font["/T3"] = pikepdf.Dictionary(
            Type=pikepdf.Name("/Font"),
            Subtype=pikepdf.Name("/Type3"),
            FontBBox=pikepdf.Array([0, 0, 8, 8]),
            FontMatrix=pikepdf.Array([1, 0, 0, 1, 0, 0]),
            CharProcs=pikepdf.Dictionary(a=shape, b=shape),
            Encoding=pikepdf.Dictionary(
                Type=pikepdf.Name("/Encoding"),
                Differences=pikepdf.Array([97, pikepdf.Name("/a"), pikepdf.Name("/b")]),
            ),
            FirstChar=97,
            LastChar=98,
            Widths=pikepdf.Array([8, 8]),
        )
        document.save(path)
    lines = layer(path).lines
    assert [line.text for line in lines] == ["abba"]
    assert 8 <= lines[0].size <= 16


def test_negative_font_size_turns_the_letters(pdf: Make) -> None:
    line = layer(pdf("BT /F1 -12 Tf 1 0 0 1 200 150 Tm (About) Tj ET")).lines[0]
    assert (line.text, line.angle) == ("About", 180)


@pytest.mark.parametrize("matrix", ["1e30 0 0 1e30 0 0", "0 0 0 0 50 50", "1 0 0 1 9e9 9e9", "1e-9 0 0 1e-9 5 5"])
@pytest.mark.timeout(30)
def test_broken_matrices_cost_nothing(pdf: Make, matrix: str) -> None:
    content = words("fine") + f"BT /F1 12 Tf {matrix} Tm (nowhere) Tj ET"
    assert "fine" in texts(pdf(content))
