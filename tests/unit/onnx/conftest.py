"""Pages drawn by the tests themselves, with the font that Pillow brings along."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from pageloom import weights
from pageloom.engines.onnx.ocr import Ocr

Pixels = NDArray[np.uint8]

SENTENCES = (
    "The committee met on 14 March 2024 and",
    "approved the budget of 48,250 dollars for",
    "the next year. Members who were absent",
    "will receive a copy of the minutes by post.",
    "Questions may be sent to the secretary.",
    "No further business was brought forward.",
)


def _page(lines: tuple[str, ...] = SENTENCES, size: int = 28, ink: str = "black", paper: str = "white") -> Pixels:
    font = ImageFont.load_default(size=size)
    image = Image.new("RGB", (900, 1200), paper)
    pen = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        pen.text((120, 150 + number * int(size * 2.2)), line, font=font, fill=ink)
    return np.asarray(image)


@pytest.fixture
def page() -> Callable[..., Pixels]:
    """Draws a page of 900 x 1200 pixels with lines of text."""
    return _page


@pytest.fixture(scope="session")
def ocr() -> Ocr:
    """The recogniser; the test is skipped where the model files are not on this machine."""
    if weights.missing():
        pytest.skip("the model files are not on this machine")
    return Ocr()
