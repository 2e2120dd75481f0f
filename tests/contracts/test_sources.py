"""One suite for every source and PDF back end: what the pipeline relies on."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pikepdf
import pytest
from PIL import Image, ImageDraw

from pageloom import plugins
from pageloom.contracts import PageSource, SourceFactory, SourceOptions
from pageloom.errors import InputError, MissingExtra, PageNotFound
from pageloom.model.image import Target
from pageloom.sources.detect import media_type_of, open_source

BACKENDS = ("pdfium", "pdfplumber", "pymupdf")
KINDS = (*BACKENDS, "png", "tiff", "gif")
PAGES = 3
LONGEST = 700

Open = Callable[[str], PageSource]


def a_pdf(path: Path, **save: object) -> Path:
    pdf = pikepdf.new()
    font = pikepdf.Dictionary(
        Type=pikepdf.Name("/Font"), Subtype=pikepdf.Name("/Type1"), BaseFont=pikepdf.Name("/Helvetica")
    )
    for number in range(1, PAGES + 1):
        page = pdf.add_blank_page(page_size=(400, 300)).obj
        page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
        page.Rotate = 90 * (number - 1)
        lines = (
            f"BT /F1 20 Tf 50 200 Td (Page number {number}) Tj 0 -50 Td 3 Tr (unseen) Tj ET 1 w 50 100 m 350 100 l S"
        )
        page.Contents = pdf.make_stream(lines.encode())
    pdf.save(path, **save)
    return path


def a_picture(path: Path) -> Path:
    frames = []
    for number in range(PAGES):
        frame = Image.new("L", (400, 300), 255)
        ImageDraw.Draw(frame).rectangle((50, 50 + 20 * number, 200, 70 + 20 * number), fill=0)
        frames.append(frame)
    more = {"save_all": True, "append_images": frames[1:]} if path.suffix != ".png" else {}
    frames[0].save(path, **more)
    return path


@pytest.fixture
def open_kind(tmp_path: Path) -> Open:
    def opened(kind: str) -> PageSource:
        if kind not in BACKENDS:
            return open_source(a_picture(tmp_path / f"a.{kind}"))
        if kind == "pymupdf" and importlib.util.find_spec("pymupdf") is None:
            pytest.skip("the extra pymupdf is not installed")
        return open_source(a_pdf(tmp_path / "a.pdf"), None, SourceOptions.model_validate({"pdf_backend": kind}))

    return opened


@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_numbered_from_one_and_have_sizes(open_kind: Open, kind: str) -> None:
    source = open_kind(kind)
    assert [page.number for page in source.pages] == list(range(1, (1 if kind == "png" else PAGES) + 1))
    assert all(page.size.width > 0 and page.size.height > 0 for page in source.pages)
    source.close()


@pytest.mark.parametrize("kind", KINDS)
def test_pixels_are_rgb_as_shown_and_bounded(open_kind: Open, kind: str) -> None:
    source = open_kind(kind)
    for page in source.pages:
        image = source.draw(page.number, Target(longest_px=LONGEST)).image
        assert image is not None
        assert image.number == page.number
        assert image.rgb.dtype == np.uint8
        assert image.rgb.flags.c_contiguous
        height, width, channels = image.rgb.shape
        assert (channels, max(height, width) <= LONGEST) == (3, True)
        assert width / height == pytest.approx(page.size.width / page.size.height, rel=0.02)
        assert image.dpi == pytest.approx(width * 72 / page.size.width, rel=0.02)
        assert image.rgb.min() < 100 < image.rgb.max()
    source.close()


@pytest.mark.parametrize("kind", KINDS)
def test_pages_can_be_drawn_in_any_order_and_again(open_kind: Open, kind: str) -> None:
    source = open_kind(kind)
    numbers = [page.number for page in source.pages]
    first = {number: source.draw(number, Target(longest_px=300)) for number in numbers}
    for number in reversed(numbers):
        again = source.draw(number, Target(longest_px=300))
        assert again.text == first[number].text
        assert again.image is not None
        assert np.array_equal(again.image.rgb, first[number].image.rgb)
    source.close()


@pytest.mark.parametrize("kind", KINDS)
def test_pages_that_are_not_there_are_not_found(open_kind: Open, kind: str) -> None:
    source = open_kind(kind)
    for number in (0, -1, len(source.pages) + 1):
        with pytest.raises(PageNotFound):
            source.draw(number, None)
    source.close()


@pytest.mark.parametrize("kind", BACKENDS)
def test_text_layer_is_the_same_through_every_back_end(open_kind: Open, kind: str) -> None:
    source = open_kind(kind)
    for page in source.pages:
        text = source.draw(page.number, None).text
        assert text is not None
        shown = [line for line in text.lines if line.seen]
        hidden = [line for line in text.lines if not line.seen]
        assert [line.text for line in shown] == [f"Page number {page.number}"]
        assert [line.text for line in hidden] == ["unseen"]
        assert shown[0].angle == 90 * (page.number - 1)
        assert shown[0].size == pytest.approx(20, abs=0.5)
        assert [word.text for word in shown[0].words] == ["Page", "number", str(page.number)]
        assert all(0 <= side <= 1 for word in shown[0].words for side in (word.box.x0, word.box.y0, word.box.x1))
        assert text.has_content
        assert len(text.rulings) == 1
        assert text.health.glyphs == len("Pagenumber1unseen")
        assert text.health.invisible == pytest.approx(6 / 17)
    source.close()


@pytest.mark.parametrize("kind", [*BACKENDS[1:]])
def test_glyphs_stand_where_pdfium_finds_them(open_kind: Open, kind: str) -> None:
    ours, theirs = open_kind("pdfium"), open_kind(kind)
    for number in range(1, PAGES + 1):
        one, other = ours.draw(number, None).text, theirs.draw(number, None).text
        assert one is not None
        assert other is not None
        boxes = {line.text: line.box for line in other.lines}
        for line in one.lines:  # the others tell the font's box, not the ink's
            assert line.box.iou(boxes[line.text]) > 0.6
    ours.close()
    theirs.close()


@pytest.mark.parametrize("kind", BACKENDS)
def test_every_back_end_reads_encrypted_files(tmp_path: Path, kind: str) -> None:
    if kind == "pymupdf" and importlib.util.find_spec("pymupdf") is None:
        pytest.skip("the extra pymupdf is not installed")
    path = a_pdf(tmp_path / "locked.pdf", encryption=pikepdf.Encryption(owner="o", user="Pässwörd", R=6))
    source = open_source(path, "Pa\u0308sswo\u0308rd", SourceOptions.model_validate({"pdf_backend": kind}))
    text = source.draw(1, None).text
    assert text is not None
    assert text.lines[0].text == "Page number 1"
    source.close()


@pytest.mark.skipif(importlib.util.find_spec("pymupdf") is not None, reason="the extra pymupdf is installed")
def test_chosen_back_end_that_is_not_installed_names_its_extra(tmp_path: Path) -> None:
    with pytest.raises(MissingExtra, match=r"pageloom\[pymupdf\]"):
        open_source(a_pdf(tmp_path / "a.pdf"), None, SourceOptions(pdf_backend="pymupdf"))


@pytest.mark.parametrize("name", ["pdf", "image"])
def test_factories_are_installed_under_their_names(name: str) -> None:
    factory: SourceFactory = plugins.load("sources", name)
    assert factory.media_types
    assert all("/" in kind for kind in factory.media_types)


HOSTILE = {
    "cut.pdf": b"%PDF-1.7\n1 0 obj\n<</Type/Catalog",
    "noise.pdf": b"%PDF-1.7\n" + bytes(range(256)) * 20,
    "cut.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR",
    "cut.jpg": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "cut.gif": b"GIF89a\x10\x00",
    "cut.tiff": b"II*\x00\xff\xff\xff\xff",
    "cut.webp": b"RIFF\x10\x00\x00\x00WEBPVP8 ",
    "cut.bmp": b"BM\x36\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\xff\xff\xff\x7f\xff\xff\xff\x7f",
    "cut.heic": b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_broken_files_are_input_errors_and_name_no_path(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(HOSTILE[name])
    media_type_of(path)  # the kind is told all the same
    with pytest.raises(InputError) as error:
        source = open_source(path)
        source.draw(1, Target())
    assert str(tmp_path) not in str(error.value)
