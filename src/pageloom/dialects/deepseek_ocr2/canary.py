"""A page whose words and places are known, drawn here with the font that Pillow carries: no file to lose."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from pageloom.contracts import Canary
from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import PageImage

WIDTH_PX, HEIGHT_PX = 1191, 1684  # A4 at 144 dpi, the size of the official PDF script
MARGIN_PX = 120

HEADING = "Annual Report on River Gauges"
PARAGRAPHS = (
    (
        "The gauges along the lower river were read every morning at",
        "seven. In March the water stood at 214 centimetres, in June at",
        "187, and the lowest mark of the year was 96 on 12 September.",
    ),
    (
        "Two stations were moved after the flood of 1998. Their old",
        "records were kept and joined to the new ones, so that the",
        "series of 61 years has no gap and can be used as a whole.",
    ),
    (
        "Requests for copies may be sent to the office in Bridge Street,",
        "stating the station, the years wanted and the form of the file.",
    ),
)


def canary() -> Canary:
    """A heading and three paragraphs on an A4 page."""
    picture = Image.new("RGB", (WIDTH_PX, HEIGHT_PX), "white")
    pen = ImageDraw.Draw(picture)
    blocks = [_written(pen, 150, (HEADING,), 44)]
    top = 280
    for lines in PARAGRAPHS:
        blocks.append(_written(pen, top, lines, 30))
        top += 60 + 44 * len(lines)
    image = PageImage(1, PageSize(595.5, 842.0), np.asarray(picture), dpi=144.0, colour=False)
    return Canary(image, tuple(blocks))


def _written(pen: ImageDraw.ImageDraw, top: int, lines: tuple[str, ...], size_px: int) -> tuple[str, Box]:
    font = ImageFont.load_default(size_px)
    boxes = []
    for number, line in enumerate(lines):
        place = (MARGIN_PX, top + 44 * number)
        pen.text(place, line, fill="black", font=font)
        x0, y0, x1, y1 = pen.textbbox(place, line, font=font)
        boxes.append(Box(x0 / WIDTH_PX, y0 / HEIGHT_PX, x1 / WIDTH_PX, y1 / HEIGHT_PX))
    return " ".join(lines), Box.around(boxes)
