"""Any mode Pillow decodes to becomes 8-bit RGB that looks as the picture is meant to look."""

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LIGHT = 170  # of 255: ink lighter than this cannot be read on white
_VISIBLE = 96  # of 255: alpha of what counts as ink


def to_rgb(picture: Image.Image) -> Image.Image:
    """RGB of a decoded picture: deep grey scaled, CMYK converted, transparency put on a ground it can be read on."""
    if picture.mode == "RGB":
        return picture
    if picture.mode.startswith(("I", "F")):
        return Image.fromarray(_eight_bits(np.asarray(picture))).convert("RGB")
    if picture.mode in {"RGBA", "LA", "PA", "La", "RGBa"} or "transparency" in picture.info:
        return _on_ground(picture.convert("RGBA"))
    return picture.convert("RGB")


def _eight_bits(values: "NDArray[np.generic]") -> "NDArray[np.uint8]":
    """Deep grey or floats as 8 bits; white is the top of the smallest usual range (12, 16 bits, 0-1) that holds it."""
    deep = np.nan_to_num(values.astype(np.float32))
    low, high = float(deep.min()), float(deep.max())
    if low < 0:
        deep, high, low = deep - low, high - low, 0.0
    tops = (1.0, 255.0, 4095.0, 65535.0) if values.dtype.kind == "f" else (255.0, 4095.0, 65535.0)
    top = next((top for top in tops if high <= top), high)
    return np.asarray(np.clip(deep * (255.0 / top) + 0.5, 0, 255), np.uint8)


def _on_ground(picture: Image.Image) -> Image.Image:
    """Composite on white; on black when most of what is visible is too light to be read on white."""
    small = np.asarray(picture.resize((min(picture.width, 512), min(picture.height, 512)), Image.Resampling.NEAREST))
    ink = small[..., 3] > _VISIBLE
    clear = float((~ink).mean())
    light = small[..., :3].astype(np.float32).mean(axis=-1) > _LIGHT
    dark_ground = clear > 0.2 and bool(ink.any()) and float(light[ink].mean()) > 0.5
    ground = Image.new("RGBA", picture.size, (0, 0, 0, 255) if dark_ground else (255, 255, 255, 255))
    ground.alpha_composite(picture)
    return ground.convert("RGB")
