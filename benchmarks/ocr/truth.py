"""Pages whose words and places are known, and how a reading is compared with them."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image, ImageDraw, ImageFont
from rapidfuzz.distance import Levenshtein

DPI = 150

# "\ufffe" is PDFium's mark for a hyphen at a line's end.
_FOLDED = str.maketrans(
    {"\ufffe": "-", "\u00ad": "-", "‐": "-", "–": "-", "—": "-", "−": "-", "’": "'", "‘": "'", "“": '"', "”": '"'}
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word with its box in pixels: x0, y0, x1, y1."""

    text: str
    box: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class TruthPage:
    """A page and all its words."""

    name: str
    rgb: np.ndarray
    tokens: tuple[Token, ...]


@dataclass(slots=True)
class Score:
    """Edits and lengths, summed over pages."""

    char_edits: int = 0
    chars: int = 0
    word_edits: int = 0
    words: int = 0
    wrong: list[tuple[str, str]] = field(default_factory=list)

    @property
    def cer(self) -> float:
        """Character error rate without white space, percent."""
        return 100 * self.char_edits / max(1, self.chars)

    @property
    def wer(self) -> float:
        """Word error rate, percent; words are what stands between spaces."""
        return 100 * self.word_edits / max(1, self.words)


def compare(page: TruthPage, lines: Iterable[tuple[str, tuple[float, float, float, float]]]) -> Score:
    """Score a reading: every truth word belongs to the line whose box holds its middle; lines are compared one by one.

    Args:
        page: the page.
        lines: text and box in pixels.
    """
    read = list(lines)
    owned: dict[int, list[Token]] = {place: [] for place in range(len(read))}
    score = Score()
    for token in page.tokens:
        owner = _owner(token, [box for _, box in read])
        if owner is None:
            _add(score, token.text, "")
        else:
            owned[owner].append(token)
    for place, tokens in owned.items():
        truth = " ".join(token.text for token in sorted(tokens, key=lambda token: token.box[0]))
        _add(score, truth, read[place][0])
    return score


def _owner(token: Token, boxes: Sequence[tuple[float, float, float, float]]) -> int | None:
    x, y = (token.box[0] + token.box[2]) / 2, (token.box[1] + token.box[3]) / 2
    holding = [place for place, b in enumerate(boxes) if b[0] - 2 <= x <= b[2] + 2 and b[1] <= y <= b[3]]
    return min(holding, key=lambda place: abs((boxes[place][1] + boxes[place][3]) / 2 - y)) if holding else None


def _plain(text: str) -> str:
    # Typographic quotes and dashes count as their ASCII forms, leader dots as three.
    return re.sub(
        r"([.·_-])\1{3,}", r"\1\1\1", unicodedata.normalize("NFKC", text.translate(_FOLDED)).translate(_FOLDED)
    )


def _add(score: Score, truth: str, read: str) -> None:
    truth, read = _plain(truth), _plain(read)
    tight_truth, tight_read = "".join(truth.split()), "".join(read.split())
    edits = Levenshtein.distance(tight_truth, tight_read)
    score.char_edits += edits
    score.chars += len(tight_truth)
    score.word_edits += Levenshtein.distance(truth.split(), read.split())
    score.words += len(truth.split())
    if truth.split() != read.split():
        score.wrong.append((truth, read))


def from_layer(path: Path, number: int, dpi: float = DPI) -> TruthPage:
    """A born-digital page drawn as pixels, with its text layer as truth."""
    document = pypdfium2.PdfDocument(path)
    page = document[number - 1]
    scale = dpi / 72
    rgb = np.ascontiguousarray(page.render(scale=scale).to_numpy()[:, :, :3][:, :, ::-1])
    layer = page.get_textpage()
    height = page.get_height()
    tokens: list[Token] = []
    run: list[tuple[str, tuple[float, float, float, float]]] = []
    for place in range(layer.count_chars()):
        char = layer.get_text_range(place, 1)
        if not char.strip():
            tokens += _token(run)
            run = []
            continue
        left, bottom, right, top = layer.get_charbox(place, loose=True)
        run.append((char, (left * scale, (height - top) * scale, right * scale, (height - bottom) * scale)))
        if char == "\ufffe":  # a hyphen at a line's end: the word goes on in the next line
            tokens += _token(run)
            run = []
    tokens += _token(run)
    document.close()
    return TruthPage(f"{path.name} p{number}", rgb, tuple(tokens))


def _token(run: Sequence[tuple[str, tuple[float, float, float, float]]]) -> list[Token]:
    if not run:
        return []
    boxes = [box for _, box in run]
    around = (min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes))
    return [Token("".join(char for char, _ in run), around)]


def drawn(name: str, text: str, font_file: Path, points: float, dpi: float = DPI, index: int = 0) -> TruthPage:
    """Text set in a font on a white A4 page, ragged right, 25 mm margins."""
    width, height, margin = round(8.27 * dpi), round(11.69 * dpi), round(dpi)
    font = ImageFont.truetype(str(font_file), round(points * dpi / 72), index=index)
    image = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(image)
    leading = points * dpi / 72 * 1.6
    y = float(margin)
    tokens: list[Token] = []
    for paragraph in text.strip().split("\n"):
        for line in _broken(paragraph, font, width - 2 * margin):
            pen.text((margin, y), line, font=font, fill="black")
            tokens += _tokens(line, font, margin, y, leading)
            y += leading
    return TruthPage(name, np.asarray(image), tuple(tokens))


def _broken(paragraph: str, font: ImageFont.FreeTypeFont, room: int) -> Iterable[str]:
    line = ""
    for piece in _pieces(paragraph):
        if line and font.getlength((line + piece).rstrip()) > room:
            yield line.rstrip()
            line = ""
        line += piece
    if line:
        yield line.rstrip()


def _pieces(paragraph: str) -> list[str]:
    pieces = [""]
    for char in paragraph:
        pieces[-1] += char
        if char == " " or ord(char) > 0x2E7F:
            pieces.append("")
    return [piece for piece in pieces if piece]


def _tokens(line: str, font: ImageFont.FreeTypeFont, x: float, y: float, leading: float) -> list[Token]:
    tokens, done = [], 0
    for word in line.replace("\u3000", " ").split(" "):
        start = x + font.getlength(line[:done])
        if word:
            end = x + font.getlength(line[: done + len(word)])
            tokens.append(Token(word, (start, y, end, y + leading * 0.8)))
        done += len(word) + 1
    return tokens
