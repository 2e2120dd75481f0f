"""The native engine: the text layer in reading order, no word lost, none doubled."""

from collections import Counter
from pathlib import Path

import pytest
from fpdf import FPDF

from pageloom.contracts import SourceOptions
from pageloom.engines.native import FACTORY, NativeOptions
from pageloom.errors import UnreadablePage
from pageloom.model.blocks import ListItem, Table, text_of
from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import PageText, TextLine
from pageloom.model.reading import PageRequest, Reading

WORDS = ["the", "story", "of", "papers", "that", "were", "read", "by", "people", "who", "wanted", "to", "know", "more"]


def read(text: PageText | None, number: int = 1) -> Reading:
    return FACTORY.load(NativeOptions()).read(PageRequest(number, None, text))


def line(text: str, y: float, *, seen: bool = True) -> TextLine:
    return TextLine(text, Box(0.1, y, 0.1 + 0.008 * len(text), y + 0.012), size=10, seen=seen)


def letters(text: str) -> Counter[str]:
    return Counter("".join(text.split()))


def printed(reading: Reading) -> str:
    parts = []
    for block in reading.blocks:
        marker = block.marker if isinstance(block, ListItem) else ""
        parts.append(f"{marker} {text_of(block)}")
    return "\n".join(parts)


def two_column_pdf(folder: Path) -> Path:
    pdf = FPDF(unit="pt", format=(595, 842))
    pdf.add_page()
    pdf.set_font("helvetica", "B", 18)
    pdf.text(150, 60, "A title over two columns of text")
    pdf.set_font("helvetica", size=9)
    for x, tag in ((50, "L"), (310, "R")):
        for number in range(40):
            start = (number * 3) % len(WORDS)
            pdf.text(x, 100 + 12 * number, f"{tag}{number} " + " ".join((WORDS * 2)[start : start + 9])[:48])
    pdf.text(290, 820, "17")
    path = folder / "two.pdf"
    pdf.output(str(path))
    return path


def drawn_text(path: Path, number: int = 1) -> PageText:
    from pageloom.sources.pdf import FACTORY as PDF

    source = PDF.open(path, None, SourceOptions())
    try:
        text = source.draw(number, None).text
    finally:
        source.close()
    assert text is not None
    return text


def test_text_equals_the_layer(tmp_path: Path) -> None:
    text = drawn_text(two_column_pdf(tmp_path))
    reading = read(text)
    assert letters(printed(reading)) == letters("\n".join(line.text for line in text.lines))


def test_columns_of_a_pdf_are_read_in_order(tmp_path: Path) -> None:
    words = printed(read(drawn_text(two_column_pdf(tmp_path)))).split()
    marks = [word for word in words if word[0] in "LR" and word[1:].isdigit()]
    assert marks == [f"{tag}{number}" for tag in "LR" for number in range(40)]


def test_invisible_text_is_left_out_and_noted() -> None:
    reading = read(PageText((line("what is seen", 0.2), line("what is not", 0.3, seen=False))))
    assert printed(reading).split() == ["what", "is", "seen"]
    assert "invisible_text_left_out" in reading.notes


def test_an_empty_layer_gives_an_empty_reading() -> None:
    assert read(PageText()).blocks == ()


def test_an_image_is_refused() -> None:
    with pytest.raises(UnreadablePage, match="page 4"):
        read(None, 4)


def test_blocks_rest_on_the_text_layer_and_have_final_ids() -> None:
    from pageloom.model.blocks import Confidence

    one = TextLine("what is seen here", Box(0.1, 0.2, 0.4, 0.212), Confidence(1.0, "text-layer"), size=10)
    reading = read(PageText((one,), size=PageSize(595, 842)), 3)
    assert [(block.id, block.order) for block in reading.blocks] == [("p3-b1", 0)]
    assert reading.blocks[0].confidence.basis == "text-layer"


def test_rules_need_no_pixels() -> None:
    assert FACTORY.load(NativeOptions()).needs_pixels is False


@pytest.mark.shared
@pytest.mark.parametrize(
    "name",
    [
        "papers/tableformer.pdf",
        "papers/layout-parser-paper-fast.pdf",
        "olmocr_bench/multi_column_miss.pdf",
        "olmocr_bench/openstax_caculus_pg_273.pdf",
        "generated/vat_zh_special.pdf",
        "odd/right_to_left_01.pdf",
    ],
)
def test_no_word_of_real_pages_is_lost_or_doubled(shared_data: Path, name: str) -> None:
    text = drawn_text(shared_data / "dev" / name)
    reading = read(text)
    lines = [line for block in reading.blocks for line in block.lines]
    for block in reading.blocks:
        if isinstance(block, Table):
            lines += [line for cell in block.cells for line in cell.lines]
    want = letters("\n".join(line.text for line in text.lines if line.seen))
    assert letters("\n".join(line.text for line in lines)) == want
