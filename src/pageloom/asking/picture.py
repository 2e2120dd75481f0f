"""The picture a model is sent: the JPEG made in the worker, or a smaller one where a page is to be one view."""

from typing import TYPE_CHECKING, cast

from pageloom.errors import EngineUnavailable
from pageloom.model.image import EncodedImage
from pageloom.model.reading import PageRequest

if TYPE_CHECKING:
    from pageloom.model.image import Pixels

QUALITY = 90  # JPEG q90 4:2:0 (OpenCV's default sampling): 5 ms and 370 KB a page (SERVING.md 1.3)


def picture(request: PageRequest, longest_px: int | None = None) -> EncodedImage:
    """The page as JPEG.

    Args:
        request: with `encoded` or `image` filled.
        longest_px: neither side may be longer; None = as drawn.

    Raises:
        EngineUnavailable: the request carries no picture.
    """
    encoded = request.encoded
    if encoded is not None and (longest_px is None or max(encoded.width_px, encoded.height_px) <= longest_px):
        return encoded
    return _encoded(pixels(request, longest_px))


def pixels(request: PageRequest, longest_px: int | None = None) -> "Pixels":
    """The page as uint8 [H, W, 3], sRGB, no side longer than `longest_px`.

    Raises:
        EngineUnavailable: the request carries no picture.
    """
    import cv2  # a page that travels as it was drawn needs neither of them
    import numpy as np

    if request.image is not None:
        rgb = request.image.rgb
    elif request.encoded is not None:
        rgb = cast("Pixels", cv2.imdecode(np.frombuffer(request.encoded.jpeg, np.uint8), cv2.IMREAD_COLOR_RGB))
    else:
        raise EngineUnavailable(f"page {request.number}: no picture was drawn for it")
    longest = max(rgb.shape[:2])
    if longest_px is None or longest <= longest_px:
        return rgb
    scale = longest_px / longest
    size = (max(1, round(rgb.shape[1] * scale)), max(1, round(rgb.shape[0] * scale)))
    return cast("Pixels", cv2.resize(rgb, size, interpolation=cv2.INTER_AREA))


def _encoded(rgb: "Pixels") -> EncodedImage:
    import cv2

    _, jpeg = cv2.imencode(".jpg", cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return EncodedImage(jpeg.tobytes(), rgb.shape[1], rgb.shape[0])
