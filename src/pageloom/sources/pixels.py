"""How large a page is drawn, and two quick looks at the drawn pixels."""

import math
from typing import TYPE_CHECKING

import numpy as np

from pageloom.model.geometry import PageSize
from pageloom.model.image import Target

if TYPE_CHECKING:
    from pageloom.model.image import Pixels

SHORTEST_SIDE_PX = 8  # a page of 1 x 20000 points is still drawn with some height


def drawn_size(size: PageSize, target: Target, max_pixels: int) -> tuple[int, int, float]:
    """Width and height in pixels at which a page is drawn, and the pixels an inch that makes.

    The longer side is `dpi` x inches, at least `shortest_px`, at most `longest_px`; all in all at most `max_pixels`.
    """
    longer_pt = max(size.width, size.height)
    longer_px = min(max(target.dpi * longer_pt / 72.0, target.shortest_px), target.longest_px)
    scale = longer_px / longer_pt
    area = size.width * size.height * scale * scale
    if area > max_pixels:
        scale *= math.sqrt(max_pixels / area)
    width = max(SHORTEST_SIDE_PX, round(size.width * scale))
    height = max(SHORTEST_SIDE_PX, round(size.height * scale))
    return width, height, scale * 72.0


def has_colour(rgb: "Pixels") -> bool:
    """Whether the page has colour beyond grey: more than 0.05 % of the pixels with channels 40 of 255 apart.

    A yellowed scan is not colour: what is asked is whether there can be a coloured seal, so the page's own tint
    (the median difference) is taken off first.
    """
    few = rgb[:: max(1, rgb.shape[0] // 400), :: max(1, rgb.shape[1] // 400)].astype(np.int16)
    red_green = few[..., 0] - few[..., 1]
    green_blue = few[..., 1] - few[..., 2]
    apart = np.maximum(np.abs(red_green - np.median(red_green)), np.abs(green_blue - np.median(green_blue)))
    return bool((apart > 40).mean() > 0.0005)


def is_flat(rgb: "Pixels", levels: int = 2) -> bool:
    """Whether nothing was drawn: every pixel of one colour, within so many of 255 levels."""
    return all(int(rgb[..., channel].max()) - int(rgb[..., channel].min()) <= levels for channel in range(3))
