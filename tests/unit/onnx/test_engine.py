"""The engine on pages drawn here; each needs the model files."""

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from pageloom import weights
from pageloom.engines.onnx import FACTORY, OnnxOptions
from pageloom.engines.onnx.engine import OnnxEngine
from pageloom.errors import EngineUnavailable, ModelsMissing, UnreadablePage
from pageloom.model.blocks import text_of
from pageloom.model.geometry import PageSize, Placement
from pageloom.model.image import PageImage
from pageloom.model.reading import PageRequest, Reading

Pixels = NDArray[np.uint8]
Page = Callable[..., Pixels]

DPI = 150.0


@pytest.fixture(scope="module")
def engine() -> OnnxEngine:
    if weights.missing():
        pytest.skip("the model files are not on this machine")
    return OnnxEngine(None, "rules")


def read(
    engine: OnnxEngine, rgb: Pixels, languages: tuple[str, ...] = (), placement: Placement | None = None
) -> Reading:
    size = PageSize(rgb.shape[1] * 72 / DPI, rgb.shape[0] * 72 / DPI)
    image = PageImage(1, size, np.ascontiguousarray(rgb), DPI, placement or Placement())
    return engine.read(PageRequest(1, image, None, languages=languages))


def words(reading: Reading) -> str:
    return " ".join(" ".join(text_of(block) for block in reading.blocks).split())


def line_box(reading: Reading, word: str) -> tuple[float, float]:
    """Middle of the line that holds a word."""
    (line,) = [line for block in reading.blocks for line in block.lines if word in line.text]
    return line.box.center


@pytest.mark.models
def test_print_is_read_with_boxes_words_and_confidence(engine: OnnxEngine, page: Page) -> None:
    reading = read(engine, page())
    assert "approved the budget of 48,250 dollars for" in words(reading)
    assert reading.score is not None
    assert reading.score > 0.95
    assert (reading.turned, reading.notes) == (0, ())
    lines = [line for block in reading.blocks for line in block.lines]
    assert len({line.id for line in lines}) == len(lines) == 6
    line = next(line for line in lines if "committee" in line.text)
    assert line.confidence.basis == "recogniser"
    # Drawn at x 120 of 900 and y 150 of 1200, letters 28 pixels high.
    assert line.box.x0 == pytest.approx(120 / 900, abs=0.015)
    assert line.box.center[1] == pytest.approx(165 / 1200, abs=0.01)
    assert [word.text for word in line.words][:3] == ["The", "committee", "met"]
    assert all(line.box.x0 <= word.box.x0 < word.box.x1 <= line.box.x1 + 1e-6 for word in line.words)


@pytest.mark.models
def test_a_second_reading_is_the_same(engine: OnnxEngine, page: Page) -> None:
    first, second = read(engine, page()), read(engine, page())
    assert first.blocks == second.blocks


@pytest.mark.models
@pytest.mark.parametrize("clockwise", [90, 180, 270])
def test_a_turned_page_is_read_upright_with_boxes_in_its_own_frame(
    engine: OnnxEngine, page: Page, clockwise: int
) -> None:
    straight = line_box(read(engine, page()), "committee")
    shown = np.rot90(page(), -clockwise // 90)
    reading = read(engine, shown)
    assert reading.turned == (360 - clockwise) % 360
    assert "approved the budget of 48,250 dollars for" in words(reading)
    x, y = straight
    expected = {90: (1 - y, x), 180: (1 - x, 1 - y), 270: (y, 1 - x)}[clockwise]
    assert line_box(reading, "committee") == pytest.approx(expected, abs=0.01)


@pytest.mark.models
@pytest.mark.parametrize("skew", [-8.0, -4.0, 0.7, 2.3, 8.0])
def test_the_tilt_is_found_within_a_third_of_a_degree(engine: OnnxEngine, page: Page, skew: float) -> None:
    turn = cv2.getRotationMatrix2D((450, 600), -skew, 1.0)
    tilted = cv2.warpAffine(page(), turn, (900, 1200), flags=cv2.INTER_CUBIC, borderValue=(255, 255, 255))
    reading = read(engine, np.asarray(tilted, np.uint8))
    assert reading.skew == pytest.approx(skew, abs=0.3)
    assert "approved the budget of 48,250 dollars for" in words(reading)
    x, y = line_box(read(engine, page()), "committee")
    expected = turn @ [x * 900, y * 1200, 1]
    found = line_box(reading, "committee")
    assert (found[0] * 900, found[1] * 1200) == pytest.approx(tuple(expected), abs=8)


@pytest.mark.models
def test_a_wide_strip_is_not_turned(engine: OnnxEngine, page: Page) -> None:
    strip = page()[130:270, 60:860]
    reading = read(engine, strip)
    assert reading.turned == 0
    assert "approved the budget" in words(reading)


@pytest.mark.models
def test_small_print_on_a_turned_page_is_read_upright(engine: OnnxEngine, page: Page) -> None:
    small = page(tuple("Small print has its own say in every contract" for _ in range(24)), 17)
    reading = read(engine, np.rot90(small))
    assert reading.turned == 90
    assert words(reading).count("Small print has its own say in every contract") >= 22


@pytest.mark.models
def test_light_text_on_a_coloured_ground_is_read(engine: OnnxEngine, page: Page) -> None:
    reading = read(engine, page(ink="#fff2cc", paper="#1f4e79"))
    assert "Members who were absent" in words(reading)


@pytest.mark.models
def test_an_empty_page_has_no_blocks_and_no_score(engine: OnnxEngine) -> None:
    reading = read(engine, np.full((1200, 900, 3), 255, np.uint8))
    assert (reading.blocks, reading.score) == ((), None)


@pytest.mark.models
def test_boxes_follow_the_placement_of_the_image(engine: OnnxEngine, page: Page) -> None:
    whole = line_box(read(engine, page()), "committee")
    lower = read(engine, page(), placement=Placement(0.5, 0, 0.5, 0, 0.5, 0.25))
    x, y = line_box(lower, "committee")
    assert (x, y) == pytest.approx((whole[0] / 2 + 0.5, whole[1] / 2 + 0.25), abs=1e-3)


@pytest.mark.models
def test_runs_of_one_mark_are_trimmed_and_told(engine: OnnxEngine, page: Page) -> None:
    reading = read(engine, page(("Total ************ 5", *("Chapter two",) * 3)))
    assert "runs_trimmed" in reading.notes
    assert "*****" not in words(reading)


@pytest.mark.models
def test_a_language_without_a_recogniser_is_named(
    engine: OnnxEngine, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engine.__dict__, "_tesseract", None)
    assert "language_unsupported" in read(engine, page(), ("ko",)).notes
    assert "language_unsupported" not in read(engine, page(), ("en",)).notes


@pytest.mark.models
def test_a_request_without_pixels_is_refused(engine: OnnxEngine) -> None:
    with pytest.raises(UnreadablePage, match="page 3"):
        engine.read(PageRequest(3, None, None))


def test_missing_models_are_told_before_a_page_is_read(tmp_path: Path) -> None:
    options = OnnxOptions(models=tmp_path)
    availability = FACTORY.available(options)
    assert not availability.works
    assert availability.fix == "pageloom models fetch"
    with pytest.raises(ModelsMissing, match="pageloom models fetch"):
        FACTORY.load(options)


def test_the_engine_is_for_workers_only() -> None:
    with pytest.raises(EngineUnavailable, match="worker"):
        FACTORY.open(OnnxOptions())
