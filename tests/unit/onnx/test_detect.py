import math

import numpy as np
import pytest

from pageloom.engines.onnx.crops import cut, facing, is_tall, roomy
from pageloom.engines.onnx.detect import Detector, Quad, _ordered


def heat(height: int, width: int, *boxes: tuple[int, int, int, int]) -> np.ndarray:
    out = np.zeros((height, width), np.float32)
    for x0, y0, x1, y1 in boxes:
        out[y0:y1, x0:x1] = 0.9
    return out


class Fixed:
    """A network that always answers with one heat map."""

    def __init__(self, answer: np.ndarray) -> None:
        self.answer = answer
        self.seen: tuple[int, ...] = ()

    def run(self, x: np.ndarray) -> list[np.ndarray]:
        self.seen = x.shape
        return [self.answer[None, None]]


def test_a_found_line_grows_back_to_its_letters() -> None:
    quads = Detector(Fixed(heat(320, 320, (60, 100, 260, 110)))).quads(np.zeros((320, 320, 3), np.uint8), 1600)  # type: ignore[arg-type]
    (quad,) = quads
    grown = 199 * 9 * 1.4 / (2 * 208)
    assert quad.height == pytest.approx(9 + 2 * grown, abs=0.5)
    assert quad.corners[0] == pytest.approx([60 - grown, 100 - grown], abs=0.6)


def test_faint_spots_and_specks_are_no_lines() -> None:
    answer = heat(320, 320, (10, 10, 12, 12))
    answer[100:110, 50:200] = 0.3
    assert Detector(Fixed(answer)).quads(np.zeros((320, 320, 3), np.uint8), 1600) == []  # type: ignore[arg-type]


def test_large_images_are_looked_at_smaller_and_boxes_come_back_in_their_pixels() -> None:
    network = Fixed(heat(800, 1600, (800, 400, 1200, 420)))
    (quad,) = Detector(network).quads(np.zeros((1600, 3200, 3), np.uint8), 1600)  # type: ignore[arg-type]
    assert network.seen == (1, 3, 800, 1600)
    assert quad.corners.mean(axis=0) == pytest.approx([1999, 819], abs=3)


def test_lines_come_from_top_to_bottom() -> None:
    answer = heat(320, 320, (20, 200, 120, 212), (20, 40, 120, 52), (20, 120, 120, 132))
    quads = Detector(Fixed(answer)).quads(np.zeros((320, 320, 3), np.uint8), 1600)  # type: ignore[arg-type]
    assert [round(float(quad.corners[:, 1].mean()) / 40) for quad in quads] == [1, 3, 5]


@pytest.mark.parametrize("angle", [-30, -5, 0, 5, 30])
def test_corners_start_at_the_top_left_however_the_line_is_tilted(angle: float) -> None:
    turn = np.array(
        [
            [math.cos(math.radians(angle)), -math.sin(math.radians(angle))],
            [math.sin(math.radians(angle)), math.cos(math.radians(angle))],
        ]
    )
    upright = np.array([[-100, -10], [100, -10], [100, 10], [-100, 10]], float)
    corners = (upright @ turn.T).astype(np.float32)
    assert _ordered(corners[[2, 0, 3, 1]]) == pytest.approx(corners)


def test_a_tilted_line_is_cut_out_straight() -> None:
    image = np.zeros((200, 200, 3), np.uint8)
    for x in range(40, 160):
        y = 100 + round((x - 100) * 0.2)
        image[y - 3 : y + 4, x] = 255
    corners = np.array([[40, 80], [160, 104], [160, 120], [40, 96]], np.float32)
    crop = cut(image, Quad(corners, 1.0))
    middle = crop.shape[0] // 2
    assert crop[middle, 10:-10].min() > 200
    assert crop[0].max() == 0


def test_room_is_left_at_both_ends_of_wide_and_tall_lines() -> None:
    wide = Quad(np.array([[10, 10], [110, 10], [110, 30], [10, 30]], np.float32), 1.0)
    assert (roomy(wide).width, roomy(wide).height) == pytest.approx((104, 22))
    tall = Quad(np.array([[10, 10], [30, 10], [30, 110], [10, 110]], np.float32), 1.0)
    assert is_tall(tall)
    assert (roomy(tall).width, roomy(tall).height) == pytest.approx((22, 104))


def test_vertical_lines_are_read_from_their_beginning() -> None:
    crop = np.zeros((4, 2, 3), np.uint8)
    crop[0] = 1
    crop[-1] = 2
    assert facing(crop, 90)[0, 0, 0] == 1
    assert facing(crop, 270)[0, 0, 0] == 2
