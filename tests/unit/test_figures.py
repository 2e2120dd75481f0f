"""Crops are small, right and named without words of the document."""

import cv2
import numpy as np
import pytest

from pageloom.layout.figures import asset_name, crop, inverse, on_image
from pageloom.model.geometry import Box, PageSize, Placement
from pageloom.model.image import PageImage


def image(rgb: np.ndarray, placement: Placement | None = None) -> PageImage:
    return PageImage(1, PageSize(300, 400), rgb, 72.0, placement or Placement())


def drawing() -> np.ndarray:
    rgb = np.full((400, 300, 3), 255, np.uint8)
    cv2.rectangle(rgb, (60, 80), (150, 200), (200, 0, 0), -1)
    return rgb


def test_drawing_becomes_png_and_holds_the_figure() -> None:
    found = crop(image(drawing()), Box(0.2, 0.2, 0.5, 0.5))
    assert found is not None
    assert found.suffix == ".png"
    back = cv2.imdecode(np.frombuffer(found.contents, np.uint8), cv2.IMREAD_COLOR)
    assert back.shape[:2] == (found.height_px, found.width_px)
    assert tuple(back[60, 45]) == (0, 0, 200)


def test_photograph_becomes_jpeg() -> None:
    rng = np.random.default_rng(1)
    rgb = cv2.GaussianBlur(rng.integers(0, 256, (400, 300, 3), dtype=np.uint8), (0, 0), 3)
    rgb = cv2.normalize(rgb, None, 0, 255, cv2.NORM_MINMAX)
    found = crop(image(rgb), Box(0, 0, 1, 1))
    assert found is not None
    assert found.suffix == ".jpg"


def test_large_crop_is_made_smaller() -> None:
    found = crop(image(np.full((3000, 2000, 3), 255, np.uint8)), Box(0, 0, 1, 1), longest_px=800)
    assert found is not None
    assert max(found.width_px, found.height_px) == 800


@pytest.mark.parametrize("box", [Box(0.5, 0.5, 0.5, 0.9), Box(1, 1, 1, 1)])
def test_box_without_pixels_gives_nothing(box: Box) -> None:
    assert crop(image(drawing()), box) is None


@pytest.mark.parametrize(
    "placement",
    [Placement(), Placement(0, -1, 1, 1, 0, 0), Placement(0.99, 0.02, 0.01, -0.02, 0.98, 0.03)],
)
def test_page_box_finds_its_pixels_again(placement: Placement) -> None:
    there = image(drawing(), placement)
    x, y = inverse(placement).point(*placement.point(0.3, 0.6))
    assert (x, y) == pytest.approx((0.3, 0.6))
    if placement == Placement():
        assert on_image(there, Box(0.1, 0.2, 0.3, 0.4)) == Box(0.1, 0.2, 0.3, 0.4)


def test_placement_without_area_is_refused() -> None:
    with pytest.raises(ValueError, match="no area"):
        inverse(Placement(1, 1, 0, 1, 1, 0))


def test_names_are_made_of_numbers_and_kinds() -> None:
    assert asset_name(3, "seal", 2, ".png") == "page-3-seal-2.png"
