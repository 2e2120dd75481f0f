"""Sources on real documents: text layers, their health, places of things, kinds of damage."""

from pathlib import Path

import numpy as np
import pytest

from pageloom.model.image import DrawnPage, PageText, Target
from pageloom.sources.detect import media_type_of, open_source

pytestmark = pytest.mark.shared


def drawn(folder: Path, name: str, number: int = 1, target: Target | None = None) -> DrawnPage:
    source = open_source(folder / "dev" / name)
    try:
        return source.draw(number, target)
    finally:
        source.close()


def layer(folder: Path, name: str, number: int = 1) -> PageText:
    text = drawn(folder, name, number).text
    assert text is not None
    return text


def words(text: PageText) -> str:
    return "\n".join(line.text for line in text.lines)


def test_shifted_layer_is_no_language(shared_data: Path) -> None:
    text = layer(shared_data, "papers/olmo-page-1.pdf")
    assert text.health.plausible < 0.2
    assert text.health.unmapped < 0.05


@pytest.mark.parametrize(
    "name",
    [
        "papers/tableformer.pdf",
        "papers/layout-parser-paper-fast.pdf",
        "invoices/EN16931_Miete.pdf",
        "invoices/QualityHosting.pdf",
        "invoices/AmazonWebServices.pdf",
        "olmocr_bench/earnings.pdf",
        "olmocr_bench/openstax_caculus_pg_273.pdf",
        "generated/vat_zh_special.pdf",
        "odd/DA-619p.pdf",
        "pages/korean-text-with-tables.pdf",
        "odd/right_to_left_01.pdf",
    ],
)
def test_good_layers_are_healthy(shared_data: Path, name: str) -> None:
    health = layer(shared_data, name).health
    assert health.plausible > 0.8
    assert health.unmapped < 0.01
    assert health.symbols < 0.3
    assert health.invisible < 0.05


def test_symbols_give_a_font_without_mapping_away(shared_data: Path) -> None:
    assert layer(shared_data, "odd/truetype_font_nomapping.pdf").health.symbols > 0.5


@pytest.mark.parametrize("name", ["generated/hidden_layer_wrong.pdf", "hard_pages/handwriting_bad_ocr.pdf"])
def test_hidden_layers_over_a_picture_are_seen_as_hidden(shared_data: Path, name: str) -> None:
    health = layer(shared_data, name).health
    assert health.invisible > 0.9
    assert health.image_cover > 0.8


def test_doubled_letters_are_read_once(shared_data: Path) -> None:
    text = words(layer(shared_data, "odd/issue-71-duplicate-chars.pdf"))
    assert "计算机科学与技术（应用技术）" in text
    assert "计计" not in text
    assert "项项" not in text


def test_vertical_writing_is_one_line_a_column(shared_data: Path) -> None:
    lines = layer(shared_data, "odd/vertical.pdf").lines
    assert [(line.text, line.angle) for line in lines] == [("日本語", 90.0), ("あいうえお", 90.0)]


def test_arabic_is_in_logical_order(shared_data: Path) -> None:
    text = words(layer(shared_data, "odd/right_to_left_01.pdf"))
    assert text.startswith("تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة R و Python")
    assert "أيضًا" in text
    assert "استخدام مكتبة pandas في Python لإدارة البيانات" in text


def test_turned_layer_has_whole_lines(shared_data: Path) -> None:
    lines = layer(shared_data, "rotation/edgar-rotated90.pdf").lines
    assert {line.angle for line in lines} == {90.0}
    assert "as a golden age when England was free from external attacks and internal disorder, especially" in {
        line.text for line in lines
    }


def test_stamp_on_the_edge_is_a_line_of_its_own(shared_data: Path) -> None:
    turned = [line for line in layer(shared_data, "papers/layout-parser-paper-fast.pdf").lines if line.angle == 270]
    assert [line.text for line in turned] == ["arXiv:2103.15348v2 [cs.CV] 21 Jun 2021"]


def test_ligatures_are_letters(shared_data: Path) -> None:
    source = open_source(shared_data / "dev" / "encrypted" / "copy-protected.pdf")
    text = source.draw(2, None).text
    source.close()
    assert text is not None
    assert "several practical difficulties" in words(text)
    assert "off-the-shelf toolkit" in words(text)


@pytest.mark.parametrize(
    "name", ["exif_orient6_a.jpg", "exif_orient3_a.jpg", "photo_a.heic", "page_a.webp", "cmyk_a.jpg"]
)
def test_red_square_is_where_it_was_drawn(shared_data: Path, name: str) -> None:
    page = drawn(shared_data, f"generated/{name}", target=Target(longest_px=1300))
    assert page.image is not None
    rgb = page.image.rgb.astype(int)
    assert rgb.shape == (1300, 1000, 3)
    red = (rgb[..., 0] > 150) & (rgb[..., 1] < 100) & (rgb[..., 2] < 100)
    rows, columns = np.nonzero(red)
    box = np.percentile(columns, 1), np.percentile(rows, 1), np.percentile(columns, 99), np.percentile(rows, 99)
    assert np.allclose(box, (700, 1000, 950, 1250), atol=8)


@pytest.mark.parametrize("name", ["gray16_a.png", "transparent_a.png"])
def test_deep_grey_and_transparent_pages_are_black_on_white(shared_data: Path, name: str) -> None:
    image = drawn(shared_data, f"generated/{name}", target=Target()).image
    assert image is not None
    assert (image.rgb > 240).mean() > 0.8
    assert 0.005 < (image.rgb < 100).mean() < 0.2


@pytest.mark.parametrize("name", ["odd/hugemono.pdf", "odd/enormous.pdf", "generated/mediabox_200in.pdf"])
def test_enormous_pages_are_drawn_small_and_not_blank(shared_data: Path, name: str) -> None:
    page = drawn(shared_data, name, target=Target())
    assert page.image is not None
    assert max(page.image.rgb.shape) <= Target().longest_px
    assert page.image.rgb.min() < 128
    assert page.notes == ()


def test_pdf_under_another_name_is_a_pdf(shared_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "scan.jpg"
    path.write_bytes((shared_data / "dev" / "pages" / "skew.pdf").read_bytes())
    assert media_type_of(path) == "application/pdf"
    assert len(open_source(path).pages) == 1


def test_script_in_a_page_is_only_text(shared_data: Path) -> None:
    assert "<script>" in words(layer(shared_data, "generated/with_javascript_and_uri.pdf"))
