"""Pages too poor to read are refused, and only those."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from pageloom.contracts import SourceOptions
from pageloom.imaging.readable import judge
from pageloom.model.image import Target
from pageloom.sources.detect import open_source

TEXT = ("the quick brown fox jumps over", "a lazy dog near the river bank", "and 12,345 more words in a line")


def page(height: int = 900, width: int = 700, *, scale: float = 0.5) -> np.ndarray:
    """White paper with lines of print some 12 px high."""
    rgb = np.full((height, width, 3), 255, np.uint8)
    for row, y in enumerate(range(60, height - 40, 30)):
        cv2.putText(rgb, TEXT[row % 3], (40, y), cv2.FONT_HERSHEY_SIMPLEX, scale, (0, 0, 0), 1, cv2.LINE_AA)
    return rgb


def faded(rgb: np.ndarray, contrast: float, *, paper: int = 255) -> np.ndarray:
    return np.clip(paper - (255 - rgb.astype(float)) * contrast, 0, 255).astype(np.uint8)


def noisy(rgb: np.ndarray, sigma: float) -> np.ndarray:
    grain = np.random.default_rng(2).normal(0, sigma, rgb.shape[:2])[..., None]
    return np.clip(rgb + grain, 0, 255).astype(np.uint8)


def state(rgb: np.ndarray) -> str:
    return judge(rgb, has_content=False)[0]


def test_print_is_readable() -> None:
    name, measured = judge(page(), has_content=False)
    assert name == "readable"
    assert measured["contrast"] > 200
    assert measured["edge_px"] < 1.2


@pytest.mark.parametrize(
    "rgb",
    [
        faded(page(), 0.3),
        noisy(faded(page(), 0.8, paper=220), 6),
        cv2.GaussianBlur(page(), (0, 0), 1.2),
        255 - page(),
        page(200, 700),
        page(110, 300),
        cv2.resize(page(), None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA),
    ],
    ids=["pale", "scan", "soft", "white on black", "strip", "snippet", "half size"],
)
def test_poor_but_readable_pages_are_not_refused(rgb: np.ndarray) -> None:
    assert state(rgb) == "readable"


@pytest.mark.parametrize("contrast", [0.08, 0.05])
def test_contrast_too_low(contrast: float) -> None:
    assert state(faded(page(), contrast)) == "low_contrast"
    assert state(noisy(faded(page(), 0.07, paper=200), 1.5)) == "low_contrast"


@pytest.mark.parametrize("sigma", [4, 6])
def test_blur_too_heavy(sigma: float) -> None:
    assert state(cv2.GaussianBlur(page(), (0, 0), sigma)) == "blurred"


def test_large_letters_may_be_softer_than_small_ones() -> None:
    poster = np.full((900, 900, 3), 255, np.uint8)
    for y in (200, 450, 700):
        cv2.putText(poster, "POSTER", (40, y), cv2.FONT_HERSHEY_SIMPLEX, 5, (0, 0, 0), 24, cv2.LINE_AA)
    assert state(cv2.GaussianBlur(poster, (0, 0), 3)) == "readable"


def test_print_too_small() -> None:
    large = page(1800, 1400, scale=0.5)
    assert state(cv2.resize(large, None, fx=0.18, fy=0.18, interpolation=cv2.INTER_AREA)) == "too_small"


@pytest.mark.parametrize(
    "rgb",
    [
        np.full((900, 700, 3), 255, np.uint8),
        np.zeros((900, 700, 3), np.uint8),
        np.full((1, 1, 3), 200, np.uint8),
        noisy(np.full((900, 700, 3), 235, np.uint8), 4),
        cv2.GaussianBlur(noisy(np.full((900, 700, 3), 235, np.uint8), 20), (0, 0), 1.5),
        np.repeat(np.linspace(180, 255, 900)[:, None, None], 700, 1).repeat(3, 2).astype(np.uint8),
    ],
    ids=["white", "black", "dot", "grain", "coarse grain", "shadow"],
)
def test_empty_paper_is_blank(rgb: np.ndarray) -> None:
    assert state(rgb) == "blank"


def test_one_word_on_a_page_is_not_blank() -> None:
    rgb = np.full((1754, 1240, 3), 255, np.uint8)
    cv2.putText(rgb, "7", (600, 1700), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (60, 60, 60), 1, cv2.LINE_AA)
    assert state(rgb) == "readable"


def test_dust_and_the_other_side_shining_through_are_no_print() -> None:
    other_side = cv2.GaussianBlur(faded(page(), 0.04, paper=225)[:, ::-1], (0, 0), 2.0)
    rgb = noisy(other_side, 1.5)
    for x, y in ((100, 200), (400, 90), (333, 700)):
        cv2.circle(rgb, (x, y), 2, (190, 190, 190), -1)
    assert state(rgb) == "blank"


@pytest.mark.shared
def test_no_readable_page_of_a_sample_is_refused(shared_data: Path) -> None:
    poor = {}
    names = (
        "languages_pages/nl.jpg", "historic/kant_1784_0017.tif", "photos/boston_cooking_a.jpg", "receipts/404.jpg",
        "pubtabnet/PMC2838834_005_00.png", "generated/receipt_zh_market_photo.jpg", "odd/truetype_font_nomapping.pdf",
        "odd/hugemono.pdf", "hard_pages/skinnypage.pdf", "olmocr_bench/buildingnotes.pdf", "languages/ch_en_num.jpg",
    )  # fmt: skip
    for name in names:
        source = open_source(shared_data / "dev" / name, None, SourceOptions())
        image = source.draw(1, Target()).image
        assert image is not None
        judged, measured = judge(image.rgb, has_content=True)
        if judged != "readable":
            poor[name] = (judged, measured)
    assert poor == {}
