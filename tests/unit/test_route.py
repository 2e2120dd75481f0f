"""Which way a page is read, from measured values alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from pageloom.contracts import SourceOptions
from pageloom.model.geometry import PageSize
from pageloom.model.image import DrawnPage, PageInfo, PageText, TextHealth
from pageloom.pipeline.route import route
from pageloom.sources.pdf import FACTORY as PDF

HEALTHY = TextHealth(glyphs=2000)
INFO = PageInfo(1, PageSize(595, 842))


def page(health: TextHealth | None, *, has_content: bool = True) -> DrawnPage:
    text = None if health is None else PageText(health=health, has_content=has_content)
    return DrawnPage(INFO, None, text)


def test_a_healthy_text_layer_is_taken_and_its_values_are_told() -> None:
    way = route(page(HEALTHY))
    assert way.name == "native"
    assert way.measured["glyphs"] == 2000
    assert "limit" in way.reasons[0].text


def test_an_image_is_read() -> None:
    assert route(page(None)).name == "ocr"


@pytest.mark.parametrize(
    ("health", "code"),
    [
        (replace(HEALTHY, unmapped=0.21), "unmapped_glyphs"),
        (replace(HEALTHY, symbols=0.51), "symbols"),
        (replace(HEALTHY, plausible=0.2), "implausible"),
        (TextHealth(glyphs=9, image_cover=0.9), "few_glyphs"),
        (TextHealth(glyphs=0, image_cover=1.0), "no_glyphs"),
        (TextHealth(glyphs=0), "no_glyphs"),
    ],
)
def test_a_useless_text_layer_is_left_and_the_reason_names_value_and_limit(health: TextHealth, code: str) -> None:
    way = route(page(health))
    assert way.name == "ocr"
    assert [reason.code for reason in way.reasons] == [code]


@pytest.mark.parametrize(
    ("health", "code"),
    [
        (replace(HEALTHY, invisible=1.0, image_cover=1.0), "hidden_layer"),
        (replace(HEALTHY, invisible=0.9), "hidden_layer"),
        (TextHealth(glyphs=60, image_cover=0.9), "scan_with_stamp"),
        (replace(HEALTHY, unmapped=0.096), "some_unmapped"),
    ],
)
def test_a_doubtful_text_layer_is_only_a_cross_check(health: TextHealth, code: str) -> None:
    way = route(page(health))
    assert way.name == "both"
    assert [reason.code for reason in way.reasons] == [code]
    assert "limit" in way.reasons[0].text


@pytest.mark.parametrize(
    "health",
    [
        replace(HEALTHY, unmapped=0.004),
        replace(HEALTHY, symbols=0.5),
        replace(HEALTHY, image_cover=1.0),
        TextHealth(glyphs=9),
        replace(HEALTHY, invisible=0.05, image_cover=1.0),
    ],
)
def test_values_inside_their_limits_do_not_cost_a_reading(health: TextHealth) -> None:
    assert route(page(health)).name == "native"


def test_a_page_that_draws_nothing_needs_no_reading() -> None:
    way = route(page(TextHealth(glyphs=0), has_content=False))
    assert (way.name, way.reasons[0].code) == ("native", "nothing_drawn")


def test_an_asked_engine_reads_the_picture_beside_a_healthy_layer() -> None:
    assert route(page(HEALTHY), wanted="onnx").name == "both"
    assert route(page(replace(HEALTHY, unmapped=0.9)), wanted="onnx").name == "ocr"


def test_the_asked_text_layer_is_taken_and_its_doubts_are_told() -> None:
    way = route(page(replace(HEALTHY, invisible=1.0)), wanted="native")
    assert way.name == "native"
    assert [reason.code for reason in way.reasons] == ["asked", "hidden_layer"]


def test_the_asked_text_layer_is_taken_and_its_faults_are_told() -> None:
    way = route(page(replace(HEALTHY, unmapped=0.7)), wanted="native")
    assert way.name == "native"
    assert "unmapped_glyphs" in [reason.code for reason in way.reasons]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "way", "code"),
    [
        ("papers/olmo-page-1.pdf", "ocr", "implausible"),
        ("generated/hidden_layer_wrong.pdf", "both", "hidden_layer"),
        ("hard_pages/handwriting_bad_ocr.pdf", "both", "hidden_layer"),
        ("odd/truetype_font_nomapping.pdf", "ocr", "symbols"),
        ("papers/tableformer.pdf", "native", "healthy_text_layer"),
        ("odd/right_to_left_01.pdf", "native", "healthy_text_layer"),
        ("generated/vat_zh_special.pdf", "native", "healthy_text_layer"),
    ],
)
def test_real_pages_go_their_way(shared_data: Path, name: str, way: str, code: str) -> None:
    source = PDF.open(shared_data / "dev" / name, None, SourceOptions())
    try:
        chosen = route(source.draw(1, None))
    finally:
        source.close()
    assert (chosen.name, chosen.reasons[0].code) == (way, code)
