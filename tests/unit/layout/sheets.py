"""Sheets for layout tests: lines put on a page by hand, in points."""

from dataclasses import dataclass, field

from pageloom.layout.compose import LayoutTools, compose
from pageloom.layout.page import LayoutPage
from pageloom.model.blocks import Block, Confidence, text_of
from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import Ruling, TextLine

WIDTH, HEIGHT = 600.0, 800.0
WORDS = ("the", "story", "of", "papers", "that", "were", "read", "by", "people", "who", "wanted", "to", "know", "more")
RULES = LayoutTools.load(None, "rules")


@dataclass
class Sheet:
    """Collects lines; x and y in points, y of the line's top."""

    lines: list[TextLine] = field(default_factory=list)
    rulings: list[Ruling] = field(default_factory=list)
    basis: str = "text-layer"

    def line(self, x: float, y: float, text: str, size: float = 10, **style: object) -> None:
        wide = size * (1.0 if any(ord(char) > 0x2E80 for char in text) else 0.5)
        box = Box(x / WIDTH, y / HEIGHT, min(1.0, (x + len(text) * wide) / WIDTH), (y + size) / HEIGHT)
        self.lines.append(TextLine(text, box, Confidence(1.0, "text-layer"), size=size, **style))  # type: ignore[arg-type]

    def column(self, x: float, y: float, texts: list[str], pitch: float = 13, size: float = 10) -> float:
        for text in texts:
            self.line(x, y, text, size)
            y += pitch
        return y

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self.rulings.append(Ruling(x0 / WIDTH, y0 / HEIGHT, x1 / WIDTH, y1 / HEIGHT))

    def page(self) -> LayoutPage:
        return LayoutPage(1, PageSize(WIDTH, HEIGHT), tuple(self.lines), rulings=tuple(self.rulings), basis=self.basis)

    def blocks(self) -> tuple[Block, ...]:
        return compose(self.page(), RULES)


def prose(tag: str, count: int, width: int = 46) -> list[str]:
    """Lines of running text, `width` letters each, none of which ends a sentence."""
    words = WORDS
    out: list[str] = []
    place = len(tag)
    for number in range(count):
        text = f"{tag}{number}"
        while True:
            word = words[place % len(words)]
            if len(text) + len(word) + 1 > width:
                break
            text += f" {word}"
            place += 1
        out.append(text.ljust(width, "e"))
    return out


def texts(blocks: tuple[Block, ...]) -> list[str]:
    return [text_of(block) for block in blocks]


def kinds(blocks: tuple[Block, ...]) -> list[str]:
    return [block.kind for block in blocks]
