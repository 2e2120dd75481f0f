"""Pages drawn by the tests: words at known places, rules as pixels or as vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import pytest

from pageloom.layout.page import LayoutPage
from pageloom.model.blocks import Cell, Confidence, Table, Word
from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import PageImage, Ruling, TextLine

WIDTH, HEIGHT = 1000, 1200
LETTER = 10  # px a letter
TALL = 22  # px a line


@dataclass
class Sheet:
    """A page under construction, in px."""

    lines: list[TextLine] = field(default_factory=list)
    rules: list[tuple[int, int, int, int]] = field(default_factory=list)

    def write(self, x: int, y: int, text: str) -> None:
        """A line whose words have boxes, each letter equally wide."""
        words, at = [], x
        for part in text.split(" "):
            wide = LETTER * len(part)
            words.append(Word(part, Box(at / WIDTH, y / HEIGHT, (at + wide) / WIDTH, (y + TALL) / HEIGHT), 0.99))
            at += wide + 6
        box = Box(x / WIDTH, y / HEIGHT, (at - 6) / WIDTH, (y + TALL) / HEIGHT)
        self.lines.append(TextLine(text, box, Confidence(0.99, "recogniser"), tuple(words)))

    def grid(self, xs: Sequence[int], ys: Sequence[int]) -> None:
        """All rules of a plain grid."""
        self.rules += [(xs[0], y, xs[-1], y) for y in ys] + [(x, ys[0], x, ys[-1]) for x in xs]

    def vector(self) -> LayoutPage:
        """The page as a PDF tells it: rulings, no pixels."""
        rulings = tuple(Ruling(a / WIDTH, b / HEIGHT, c / WIDTH, d / HEIGHT) for a, b, c, d in self.rules)
        return LayoutPage(1, PageSize(480, 576), tuple(self.lines), rulings=rulings, basis="text-layer")

    def scan(self, change: Callable[[np.ndarray], np.ndarray] = lambda rgb: rgb) -> LayoutPage:
        """The page as pixels: rules drawn, words as grey bars, then changed."""
        rgb = np.full((HEIGHT, WIDTH, 3), 250, np.uint8)
        for a, b, c, d in self.rules:
            cv2.line(rgb, (a, b), (c, d), (40, 40, 40), 2)
        for line in self.lines:
            for word in line.words:
                x0, y0, x1, y1 = word.box.in_pixels(WIDTH, HEIGHT)
                for x in range(x0, x1 - 4, LETTER):
                    cv2.rectangle(rgb, (x, y0 + 5), (x + 5, y1 - 5), (60, 60, 60), 1)
        size = PageSize(480, 576)
        return LayoutPage(1, size, tuple(self.lines), PageImage(1, size, change(rgb), 150.0))


@pytest.fixture
def sheet() -> Sheet:
    return Sheet()


def texts(table: Table) -> list[list[str]]:
    """Cell texts row by row; only cells that begin in the row."""
    rows: list[list[Cell]] = [[] for _ in range(table.rows)]
    for cell in table.cells:
        rows[cell.row].append(cell)
    return [[c.text for c in sorted(row, key=lambda c: c.column)] for row in rows]
