import numpy as np
import pytest

from pageloom.engines.onnx.frames import Deskew, Turn, as_turn, before_turn, opposite, turned

TURNS: tuple[Turn, ...] = (0, 90, 180, 270)


@pytest.mark.parametrize("turn", TURNS)
def test_a_point_of_the_turned_image_is_found_on_the_page_again(turn: Turn) -> None:
    image = np.zeros((100, 200, 3), np.uint8)
    image[20, 150] = 255
    facing = turned(image, turn)
    y, x = np.argwhere(facing[:, :, 0] == 255)[0]
    back = before_turn(turn).point((x + 0.5) / facing.shape[1], (y + 0.5) / facing.shape[0])
    assert back == pytest.approx((150.5 / 200, 20.5 / 100))


def test_turning_is_clockwise() -> None:
    image = np.zeros((2, 2, 3), np.uint8)
    image[0, 0] = 255
    assert turned(image, 90)[0, 1, 0] == 255


def test_opposite_turns_undo_to_upside_down() -> None:
    assert [opposite(turn) for turn in TURNS] == [180, 270, 0, 90]
    assert [as_turn(degrees) for degrees in (-90, 0, 89, 360, 450)] == [270, 0, 90, 0, 90]


@pytest.mark.parametrize("skew", [-8.0, -0.7, 2.3, 8.0])
def test_deskewing_keeps_every_point_and_leads_back_to_it(skew: float) -> None:
    deskew = Deskew(400, 600, skew)
    corners = np.array([[0, 0], [400, 0], [400, 600], [0, 600], [123, 456]], np.float32)
    moved = deskew.points(corners)
    assert moved.min() >= -1
    assert (moved <= [deskew.width_px + 1, deskew.height_px + 1]).all()
    x, y = moved[4] / [deskew.width_px, deskew.height_px]
    assert deskew.placement().point(float(x), float(y)) == pytest.approx((123 / 400, 456 / 600), abs=2e-3)


def test_a_line_tilted_clockwise_lies_level_after_deskewing() -> None:
    start, end = Deskew(400, 600, 3.0).points(np.array([[100, 100], [300, 100 + 200 * 0.0524]], np.float32))
    assert start[1] == pytest.approx(end[1], abs=0.2)


def test_pixels_move_with_their_points() -> None:
    image = np.zeros((300, 300, 3), np.uint8)
    image[98:103, 198:203] = 255
    deskew = Deskew(300, 300, 5.0)
    y, x = np.argwhere(deskew.image(image)[:, :, 0] > 128).mean(axis=0)
    assert (x, y) == pytest.approx(deskew.points(np.array([[200, 100]], np.float32))[0], abs=1)
