"""One coordinate space: fractions of the page as shown, origin top left, y down."""

from collections.abc import Iterable

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

# Slotted dataclasses, not BaseModel: a 500-page document holds some 100,000 boxes.
COMPACT = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True, config=COMPACT)
class Box:
    """A rectangle: fractions 0-1 of the page as shown (after /Rotate and EXIF), origin top left, y down."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Width as a fraction of the page."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Height as a fraction of the page."""
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        """Area as a fraction of the page."""
        return max(0.0, self.width) * max(0.0, self.height)

    @property
    def center(self) -> tuple[float, float]:
        """Middle point (x, y)."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    def intersection(self, other: "Box") -> float:
        """Area shared with another box, as a fraction of the page."""
        width = min(self.x1, other.x1) - max(self.x0, other.x0)
        height = min(self.y1, other.y1) - max(self.y0, other.y0)
        return width * height if width > 0 and height > 0 else 0.0

    def covered_by(self, other: "Box") -> float:
        """Share of this box's area that lies in another, 0-1."""
        return self.intersection(other) / self.area if self.area > 0 else 0.0

    def iou(self, other: "Box") -> float:
        """Intersection over union, 0-1."""
        shared = self.intersection(other)
        return shared / (self.area + other.area - shared) if shared > 0 else 0.0

    def clamped(self) -> "Box":
        """The part of this box that lies on the page."""
        x0, x1 = sorted((min(1.0, max(0.0, self.x0)), min(1.0, max(0.0, self.x1))))
        y0, y1 = sorted((min(1.0, max(0.0, self.y0)), min(1.0, max(0.0, self.y1))))
        return Box(x0, y0, x1, y1)

    def in_points(self, size: "PageSize") -> tuple[float, float, float, float]:
        """Corners x0, y0, x1, y1 in points, origin top left."""
        return self.x0 * size.width, self.y0 * size.height, self.x1 * size.width, self.y1 * size.height

    def in_pixels(self, width_px: int, height_px: int) -> tuple[int, int, int, int]:
        """Corners x0, y0, x1, y1 in whole pixels, widened outward and kept inside the image."""
        return (
            max(0, int(self.x0 * width_px)),
            max(0, int(self.y0 * height_px)),
            min(width_px, int(-(-self.x1 * width_px // 1))),
            min(height_px, int(-(-self.y1 * height_px // 1))),
        )

    @classmethod
    def around(cls, boxes: Iterable["Box"]) -> "Box":
        """The smallest box that holds all of `boxes` (at least one)."""
        several = list(boxes)
        return cls(
            min(b.x0 for b in several),
            min(b.y0 for b in several),
            max(b.x1 for b in several),
            max(b.y1 for b in several),
        )


@dataclass(frozen=True, slots=True, config=COMPACT)
class PageSize:
    """Width and height of a page as shown, in points (1/72 inch)."""

    width: float
    height: float


@dataclass(frozen=True, slots=True, config=COMPACT)
class Region:
    """A box on a page of the document; a block cut by a page break has several."""

    page: int
    box: Box


@dataclass(frozen=True, slots=True, config=COMPACT)
class Placement:
    """Where an image lies on its page: a 2x3 affine map from image fractions to page fractions.

    `x_page = a*x + b*y + c`, `y_page = d*x + e*y + f`. Identity for a page drawn as shown;
    deskewing, turning and cropping make others.
    """

    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 0.0
    e: float = 1.0
    f: float = 0.0

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Map one point from image fractions to page fractions."""
        return self.a * x + self.b * y + self.c, self.d * x + self.e * y + self.f

    def box(self, box: Box) -> Box:
        """The upright page box around a mapped image box, kept on the page."""
        corners = [self.point(x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        return Box(min(xs), min(ys), max(xs), max(ys)).clamped()

    def after(self, inner: "Placement") -> "Placement":
        """The map that applies `inner` first, then this one."""
        return Placement(
            self.a * inner.a + self.b * inner.d,
            self.a * inner.b + self.b * inner.e,
            self.a * inner.c + self.b * inner.f + self.c,
            self.d * inner.a + self.e * inner.d,
            self.d * inner.b + self.e * inner.e,
            self.d * inner.c + self.e * inner.f + self.f,
        )
