"""Seals are found by ink and shape, and nothing else is."""

import time
from pathlib import Path

import cv2
import numpy as np
import pytest

from pageloom.layout.page import LayoutPage
from pageloom.layout.seals import find_seals
from pageloom.model.blocks import Confidence
from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import PageImage, TextLine

SIZE = PageSize(595, 842)
RED, BLUE = (200, 40, 45), (40, 60, 190)


def page(rgb: np.ndarray, *lines: TextLine, colour: bool = True) -> LayoutPage:
    return LayoutPage(1, SIZE, lines, PageImage(1, SIZE, rgb, 150.0, colour=colour))


def paper(seed: int = 0, tint: tuple[int, int, int] = (246, 246, 244)) -> np.ndarray:
    grain = np.random.default_rng(seed).normal(0, 3, (1754, 1240, 1))
    rgb = np.clip(np.array(tint) + grain, 0, 255).astype(np.uint8)
    for y in range(150, 1600, 40):
        cv2.putText(rgb, "lorem ipsum dolor sit amet consectetur elit", (120, y), 0, 0.8, (30, 30, 30), 2)
    return rgb


def ring(
    rgb: np.ndarray, x: int, y: int, colour: tuple[int, int, int] = RED, axes: tuple[int, int] = (110, 110)
) -> None:
    over = rgb.copy()
    cv2.ellipse(over, (x, y), axes, 0, 0, 360, colour, 6)
    for turn in range(-150, -20, 18):
        at = (
            int(x + 0.75 * axes[0] * np.cos(np.radians(turn))) - 8,
            int(y + 0.75 * axes[1] * np.sin(np.radians(turn))) + 8,
        )
        cv2.putText(over, "K", at, 0, 0.8, colour, 3)
    star = [
        (x + r * np.cos(np.radians(a)), y + r * np.sin(np.radians(a)))
        for a, r in zip(range(-90, 270, 36), [34, 14] * 5, strict=True)
    ]
    cv2.fillPoly(over, [np.array(star, np.int32)], colour)
    cv2.addWeighted(over, 0.8, rgb, 0.2, 0, rgb)


@pytest.mark.parametrize(
    ("colour", "axes"),
    [(RED, (110, 110)), (BLUE, (130, 85)), ((225, 70, 80), (75, 75)), ((70, 50, 160), (110, 110))],
)
def test_rings_and_ovals_are_found_where_they_are(colour: tuple[int, int, int], axes: tuple[int, int]) -> None:
    rgb = paper()
    ring(rgb, 700, 1200, colour, axes)
    (found,) = find_seals(page(rgb))
    want = Box((700 - axes[0]) / 1240, (1200 - axes[1]) / 1754, (700 + axes[0]) / 1240, (1200 + axes[1]) / 1754)
    assert found.box.iou(want) > 0.8


def test_square_seal_is_found() -> None:
    rgb = paper()
    cv2.rectangle(rgb, (600, 1100), (760, 1260), RED, 6)
    for y in (1160, 1230):
        cv2.putText(rgb, "HB", (622, y), 0, 1.9, RED, 6)
    assert len(find_seals(page(rgb))) == 1


def test_seal_under_yellow_light_is_found() -> None:
    rgb = paper(tint=(236, 224, 170))
    ring(rgb, 500, 900)
    assert len(find_seals(page(rgb))) == 1


@pytest.mark.parametrize("seed", range(3))
def test_clean_pages_with_coloured_things_have_no_seal(seed: int) -> None:
    rgb = paper(seed)
    cv2.circle(rgb, (300, 400), 90, RED, -1)  # a filled logo
    cv2.ellipse(rgb, (800, 400), (120, 120), 0, 0, 130, BLUE, -1)  # a slice of a chart
    cv2.rectangle(rgb, (100, 700), (1100, 1000), RED, 3)  # a red form
    cv2.putText(rgb, "OFFICIAL", (300, 120), 0, 2.5, RED, 8)  # a red title
    title = TextLine("OFFICIAL", Box(0.24, 0.03, 0.7, 0.072), Confidence(0.99, "recogniser"))
    assert find_seals(page(rgb, title)) == []


def test_grey_page_is_not_searched() -> None:
    rgb = paper()
    ring(rgb, 700, 1200)
    assert find_seals(page(rgb, colour=False)) == []


def test_black_words_under_a_seal_stay_running_text() -> None:
    rgb = paper()
    ring(rgb, 700, 1200)
    cv2.putText(rgb, "FINANCE", (640, 1280), 0, 0.8, RED, 3)
    own = TextLine("FINANCE", Box(640 / 1240, 1255 / 1754, 765 / 1240, 1286 / 1754), Confidence(0.9, "recogniser"))
    under = TextLine("sit amet", Box(610 / 1240, 1168 / 1754, 790 / 1240, 1198 / 1754), Confidence(0.9, "recogniser"))
    (found,) = find_seals(page(rgb, own, under))
    assert found.line_indices == {0}
    assert found.block.text == "FINANCE"


def test_a_page_costs_little() -> None:
    rgb = paper()
    ring(rgb, 700, 1200)
    find_seals(page(rgb))
    started = time.process_time()
    find_seals(page(rgb))
    assert time.process_time() - started < 0.6


@pytest.mark.shared
def test_seals_of_the_scanned_contract_are_found(shared_data: Path) -> None:
    import pypdfium2

    document = pypdfium2.PdfDocument(str(shared_data / "dev/generated/contract_zh_purchase_scan.pdf"))
    pages = [np.asarray(document[n].render(scale=150 / 72).to_pil().convert("RGB")) for n in range(2)]
    assert [len(find_seals(page(rgb))) for rgb in pages] == [0, 2]
