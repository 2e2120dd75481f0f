"""Pages in flight: pixels, and what the PDF's own text layer says."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pageloom.model.blocks import Confidence, Word
from pageloom.model.geometry import Box, PageSize, Placement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class PageInfo:
    """A page of a source: number from 1, size in points as shown."""

    number: int
    size: PageSize


@dataclass(frozen=True, slots=True)
class Target:
    """How large a page is to be drawn.

    Attributes:
        dpi: wished resolution; an A4 page at 150 dpi is 1240 x 1754 px.
        longest_px: neither side is drawn longer; a page of any size in points stays bounded.
        shortest_px: small pages are drawn larger than `dpi` says until their longer side has this many pixels.
    """

    dpi: float = 150.0
    longest_px: int = 2304
    shortest_px: int = 1000


@dataclass(frozen=True, slots=True)
class PageImage:
    """A drawn page.

    Attributes:
        rgb: uint8 [H, W, 3], sRGB, row 0 at the top.
        placement: image fractions to fractions of the page as shown.
        dpi: pixels an inch of page; what a point size in pixels is derived from.
        colour: whether the page has colour beyond grey (seals are looked for only there).
    """

    number: int
    size: PageSize
    rgb: "Pixels"
    dpi: float
    placement: Placement = Placement()
    colour: bool = True


@dataclass(frozen=True, slots=True)
class EncodedImage:
    """A drawn page as JPEG (quality 90, 4:2:0), encoded in the worker: what engines beyond a wire are sent."""

    jpeg: bytes
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line found on a page, before it belongs to a block: by a recogniser or in the text layer.

    Attributes:
        box: upright, fractions of the page as shown.
        size: height of the letters in points (font size where the text layer tells it).
        angle: direction of the baseline in degrees, clockwise; 90 and 270 are vertical lines.
        bold, italic, mono: only where the text layer tells the font.
        seen: False for text-layer text that is drawn invisibly (rendering mode 3) or outside the page.
    """

    text: str
    box: Box
    confidence: Confidence = Confidence()
    words: tuple[Word, ...] = ()
    size: float = 0.0
    angle: float = 0.0
    bold: bool = False
    italic: bool = False
    mono: bool = False
    seen: bool = True
    font: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A drawn straight line or the edge of a filled bar, page fractions; horizontal when y0 == y1."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class TextHealth:
    """Measured values by which a text layer is trusted or not.

    Attributes:
        glyphs: glyphs on the page, white space left out.
        unmapped: share of glyphs without a Unicode mapping, 0-1.
        symbols: symbols / (symbols + letters + digits), 0-1.
        invisible: share of glyphs drawn invisibly, 0-1.
        image_cover: share of the page covered by its images, 0-1.
        plausible: how far the words look like a language (letter statistics), 0-1; shifted layers score low.
        doubled: share of glyphs drawn twice in one place (fake bold), already resolved in the lines.
    """

    glyphs: int = 0
    unmapped: float = 0.0
    symbols: float = 0.0
    invisible: float = 0.0
    image_cover: float = 0.0
    plausible: float = 1.0
    doubled: float = 0.0


@dataclass(frozen=True, slots=True)
class PageText:
    """The PDF's own text layer of one page, with its vector rulings and image boxes; `size` in points, as shown."""

    lines: tuple[TextLine, ...] = ()
    health: TextHealth = TextHealth()
    rulings: tuple[Ruling, ...] = ()
    images: tuple[Box, ...] = ()
    has_content: bool = False
    size: PageSize = PageSize(595.28, 841.89)


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """What one trip to a decode worker brings: pixels (unless only text was asked), text layer, and remarks.

    `encoded` is filled instead of `image` for engines whose factory says `image_form = "jpeg"`.
    """

    info: PageInfo
    image: PageImage | None
    text: PageText | None
    encoded: EncodedImage | None = None
    notes: tuple[str, ...] = ()
    readable: Literal["readable", "blank", "low_contrast", "blurred", "too_small"] = "readable"
    measured: dict[str, float] = field(default_factory=dict)
