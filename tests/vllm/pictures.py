"""Pages for engines that read nothing sensible: grey, so that every JPEG decoder gives the same pixels."""

import cv2
import numpy as np

from pageloom.model.image import EncodedImage

TILED, SMALL = (1191, 1684), (600, 700)


def page(size: tuple[int, int], seed: int = 0) -> EncodedImage:
    """A page of grey bars of this width and height in pixels."""
    width, height = size
    dice = np.random.default_rng(seed)
    pixels = np.full((height, width, 3), 245, np.uint8)
    for top in range(40, height - 40, 30):
        pixels[top : top + 14, 60 : 60 + int(dice.integers(100, width - 120))] = int(dice.integers(0, 90))
    _, jpeg = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 95])
    return EncodedImage(jpeg.tobytes(), width, height)
