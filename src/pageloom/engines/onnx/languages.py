"""Which languages PP-OCRv6 reads, and how a page in another one betrays itself."""

from collections.abc import Sequence

from pageloom.engines.onnx.detect import Quad
from pageloom.engines.onnx.lines import ReadLine

# Languages whose scripts are not in the recognisers' dictionaries (Hangul, Cyrillic, Arabic, Hebrew, Indic ...),
# with the names of tesseract's data for them.
TESSERACT_NAMES: dict[str, str] = {
    "ko": "kor",
    "ru": "rus",
    "uk": "ukr",
    "be": "bel",
    "bg": "bul",
    "sr": "srp",
    "mk": "mkd",
    "kk": "kaz",
    "ar": "ara",
    "fa": "fas",
    "ur": "urd",
    "he": "heb",
    "yi": "yid",
    "th": "tha",
    "hi": "hin",
    "mr": "mar",
    "ne": "nep",
    "bn": "ben",
    "ta": "tam",
    "te": "tel",
    "kn": "kan",
    "ml": "mal",
    "gu": "guj",
    "pa": "pan",
    "si": "sin",
    "my": "mya",
    "km": "khm",
    "lo": "lao",
    "ka": "kat",
    "hy": "hye",
    "am": "amh",
    "bo": "bod",
}

# Of the text on 60 dev pages in languages that are read, at most a tenth gave no letters; in others 0.7 to 1.
MUTE = 0.4
_SURE = 0.55  # how surely text must stand there
_LEAST_EMS = 6.0
_LETTERS_PER_EM = 0.35  # Latin print has two letters in the height of its line, Chinese one


def unread(languages: Sequence[str]) -> list[str]:
    """Those of the named languages (BCP 47) that need another recogniser, as tesseract names them."""
    return [name for tag in languages if (name := TESSERACT_NAMES.get(tag.split("-")[0].lower()))]


def mute_quads(lines: Sequence[ReadLine]) -> list[Quad]:
    """Lines that are surely text, yet nearly no letter was read in them."""
    return [line.quad for line in lines if line.quad.score >= _SURE and _letters(line) < _LETTERS_PER_EM * _ems(line)]


def mute_share(lines: Sequence[ReadLine]) -> float:
    """Share of the length of all text in which nearly no letters were read, 0-1; 0 on pages with too little text.

    A script that is not in the dictionary comes out as blanks and marks, not as wrong letters.
    """
    sure = [line for line in lines if line.quad.score >= _SURE]
    total = sum(_ems(line) for line in sure)
    if total < _LEAST_EMS:
        return 0.0
    return sum(_ems(line) for line in sure if _letters(line) < _LETTERS_PER_EM * _ems(line)) / total


def _letters(line: ReadLine) -> int:
    return sum(glyph.text.isalnum() for glyph in line.said.glyphs)


def _ems(line: ReadLine) -> float:
    across, along = sorted((line.quad.width, line.quad.height))
    return along / max(1.0, across)
