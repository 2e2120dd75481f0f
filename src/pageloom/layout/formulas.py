"""What looks like a displayed formula, and rows of one formula kept together."""

import re
from collections.abc import Sequence

from pageloom.layout.pieces import cjk_share
from pageloom.layout.rows import MARKER, Row

_OPERATORS = re.compile(r"[=≠≈≡≤≥<>±×÷∓∂∇∫∬∮∑∏√∞∝∈∉⊂⊆∪∩∧∨∀∃→⇒⇔↦⊕⊗′″^]|[α-ωΑ-Ω]|[ϵϑφϕ]|[\U0001d400-\U0001d7ff]")
_WORD = re.compile(r"[^\W\d_]{3,}")
_ORDINARY = re.compile(r"(?:[^\W\d_][a-zà-öø-ÿß-]+|[A-Z]+)")
_RARE = re.compile(r"[jqxz]")  # letters that indices are made of and words are not
_VOWEL = re.compile(r"[aeiouyà-öø-ÿ]", re.IGNORECASE)
_FUNCTIONS = frozenset(
    ("sin", "cos", "tan", "log", "exp", "lim", "max", "min", "sup", "inf", "det", "arg", "mod", "for")
)


def word_share(text: str) -> float:
    """Share of the characters that belong to ordinary words of three letters or more, 0-1."""
    letters = sum(not char.isspace() for char in text)
    words = sum(len(word) for word in _WORD.findall(text) if _ordinary(word))
    return words / letters if letters else 0.0


def _ordinary(word: str) -> bool:
    """Whether letters are a word of a language, not indices run together (`aijuxivxj`) or a function's name."""
    if not word.isascii() and not _ORDINARY.fullmatch(word):
        return cjk_share(word) == 0 and not _OPERATORS.search(word)
    if word.lower() in _FUNCTIONS or not _ORDINARY.fullmatch(word):
        return False
    return _VOWEL.search(word) is not None and len(_RARE.findall(word.lower())) < 2


def mathematical(text: str) -> bool:
    """Whether a region that is said to be an equation can be one: few words, no running Chinese."""
    return word_share(text) < 0.5 and cjk_share(text) < 0.3


def without_text(rows: Sequence[Row], left: float) -> list[list[Row]]:
    """Stretches of an equation region's rows that are formulas; lines of text between them are left out.

    Args:
        rows: rows of the region, top first.
        left: usual left edge of running text, points; displayed formulas are set in from it.
    """
    parts: list[list[Row]] = [[]]
    for row in rows:
        share = word_share(row.text)
        if share > 0.5 or (share > 0.3 and row.x0 < left + row.em):
            parts.append([])
        else:
            parts[-1].append(row)
    return [part for part in parts if part and any(_OPERATORS.search(row.text) for row in part)]


def displayed(row: Row) -> bool:
    """Whether a row can be (part of) a displayed formula by its signs alone."""
    text = row.text
    if MARKER.match(text) or cjk_share(text) > 0.2 or len(text) > 160:
        return False
    signs = len(_OPERATORS.findall(text))
    return signs > 0 and word_share(text) < 0.25 and ("=" in text or signs >= 2)


def fragment(row: Row) -> bool:
    """Whether a row can be a torn-off part of a formula: limits, a numerator, an index."""
    text = row.text.replace(" ", "")
    return len(text) <= 14 and word_share(row.text) < 0.4 and cjk_share(text) == 0 and not text.isdigit()


def formula_runs(rows: Sequence[Row], em: float) -> list[tuple[int, int]]:
    """Stretches [first, after) of rows that are one displayed formula each."""
    runs: list[tuple[int, int]] = []
    place = 0
    while place < len(rows):
        if not displayed(rows[place]):
            place += 1
            continue
        first, after = place, place + 1
        while first > (runs[-1][1] if runs else 0) and fragment(rows[first - 1]) and _near(rows, first - 1, em):
            first -= 1
        while after < len(rows) and fragment(rows[after]) and _near(rows, after - 1, em):
            after += 1
        runs.append((first, after))
        place = after
    return runs


def _near(rows: Sequence[Row], upper: int, em: float) -> bool:
    return rows[upper + 1].y0 - rows[upper].y1 < 0.5 * em
