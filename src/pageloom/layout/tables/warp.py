"""Straightening of one ruled area: small skew and perspective taken out of its coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pageloom.layout.tables.frame import Rect
from pageloom.layout.tables.rulings import Segment


@dataclass(frozen=True, slots=True)
class Warp:
    """Bilinear map, u = x + y(c + dx), v = y + x(a + by), about the middle of an area and in its size."""

    x: float
    y: float
    scale: float
    a: float = 0.0
    b: float = 0.0
    c: float = 0.0
    d: float = 0.0

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Straightened place of a point (both in px)."""
        p, q = (x - self.x) / self.scale, (y - self.y) / self.scale
        u, v = p + q * (self.c + self.d * p), q + p * (self.a + self.b * q)
        return u * self.scale + self.x, v * self.scale + self.y

    def back(self, x: float, y: float) -> tuple[float, float]:
        """Place on the page of a straightened point; found by iteration, exact to 0.1 px for 5 degrees."""
        u, v = (x - self.x) / self.scale, (y - self.y) / self.scale
        p, q = u, v
        for _ in range(6):
            p, q = (u - q * self.c) / (1 + self.d * q), (v - p * self.a) / (1 + self.b * p)
        return p * self.scale + self.x, q * self.scale + self.y

    def rect(self, rect: Rect) -> Rect:
        """A rectangle moved with its middle; its size stays (text boxes are upright already)."""
        x, y = rect.center
        u, v = self.point(x, y)
        return Rect(u - rect.width / 2, v - rect.height / 2, u + rect.width / 2, v + rect.height / 2)

    def rect_back(self, rect: Rect) -> Rect:
        """The upright rectangle on the page around a straightened one."""
        corners = [self.back(x, y) for x in (rect.x0, rect.x1) for y in (rect.y0, rect.y1)]
        return Rect(
            min(x for x, _ in corners),
            min(y for _, y in corners),
            max(x for x, _ in corners),
            max(y for _, y in corners),
        )

    def segment(self, s: Segment) -> Segment:
        """A segment, straightened."""
        x0, y0 = self.point(s.x0, s.y0)
        x1, y1 = self.point(s.x1, s.y1)
        return Segment(x0, y0, x1, y1, s.flat)


def straightening(segments: Sequence[Segment]) -> Warp:
    """The warp that lays the flat segments level and the others plumb, by least squares weighted by length."""
    area = Rect.around(s.rect for s in segments)
    x, y = area.center
    plain = Warp(x, y, max(area.width, area.height, 1.0))
    a, b = _slopes([s for s in segments if s.flat], plain)
    c, d = _slopes([s for s in segments if not s.flat], plain)
    return Warp(plain.x, plain.y, plain.scale, a, b, c, d)


def _slopes(segments: Sequence[Segment], plain: Warp) -> tuple[float, float]:
    """Solve rise + a*run + b*(x1*y1 - x0*y0) = 0 over all segments; b only where many lines tell it."""
    rows, rises = [], []
    for s in segments:
        x0, y0 = (s.x0 - plain.x) / plain.scale, (s.y0 - plain.y) / plain.scale
        x1, y1 = (s.x1 - plain.x) / plain.scale, (s.y1 - plain.y) / plain.scale
        run, rise = (x1 - x0, y1 - y0) if s.flat else (y1 - y0, x1 - x0)
        if run < 0.1:
            continue  # short pieces tell more of noise than of tilt
        rows.append((run, x1 * y1 - x0 * y0))
        rises.append(-rise)
    if not rows:
        return 0.0, 0.0
    if len(rows) < 4:
        total = sum(run for run, _ in rows)
        return sum(rises) / total, 0.0
    solution, *_ = np.linalg.lstsq(np.array(rows), np.array(rises), rcond=None)
    return float(np.clip(solution[0], -0.2, 0.2)), float(np.clip(solution[1], -0.3, 0.3))
