"""Printed lines joined into running text: spaces, hyphens at line ends, scripts without spaces."""

import re
from collections.abc import Iterable, Sequence

from pageloom.layout.pieces import is_cjk

SOFT_HYPHENS = "\ufffe\u00ad\u0002"  # PDFium reports a hyphen that only breaks the line as U+FFFE (or U+0002)
_HYPHENS = "-\u2010"
# Prefixes that keep their hyphen in print often enough that joining would make a wrong word.
_KEEPS_HYPHEN = frozenset(
    ("self", "non", "well", "all", "ex", "half", "cross", "high", "low", "long", "short", "multi", "semi", "e", "x")
)
_WORD_END = re.compile(r"([^\W\d_]+(?:[-\u2010][^\W\d_]+)*)[-\u2010]$")
_WORD_START = re.compile(r"[^\W\d_]+")


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """Every word and hyphenated word inside lines, lower case: what a page says about how it spells."""
    found: set[str] = set()
    for text in texts:
        found.update(word.lower() for word in re.findall(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*(?![-\u2010\w])", text))
    return frozenset(found)


def joined(texts: Sequence[str], known: frozenset[str] = frozenset()) -> str:
    """Lines as running text.

    Args:
        texts: lines in order.
        known: words of the page (`words_of`); they decide whether a hyphen at a line end belongs to the word.
    """
    out = ""
    for text in texts:
        out = _join(out, text.strip(), known)
    return _without_soft(out)


def _join(left: str, right: str, known: frozenset[str]) -> str:
    if not left or not right:
        return left or right
    if left[-1] in SOFT_HYPHENS:
        return left.rstrip(SOFT_HYPHENS) + right
    if left[-1] in _HYPHENS:
        return _hyphen(left, right, known)
    if is_cjk(left[-1]) or is_cjk(right[0]):
        return left + right
    return f"{left} {right}"


def _hyphen(left: str, right: str, known: frozenset[str]) -> str:
    """A hard hyphen at a line end: part of the word, or only a line break?"""
    head, tail = _WORD_END.search(left), _WORD_START.match(right)
    if head is None or tail is None:
        # A dash with a space before it, a number range, a bare bullet.
        glued = len(left) > 1 and not left[-2].isspace() and right[0].isalnum()
        return left + right if glued else f"{left} {right}"
    first, second = head.group(1), tail.group()
    with_hyphen, without = f"{first}-{second}".lower(), f"{first}{second}".lower()
    if with_hyphen in known or not second[0].islower() or "-" in first:
        return left + right
    if without not in known and (first.lower() in _KEEPS_HYPHEN or len(first) < 2):
        return left + right
    return left[:-1] + right


def _without_soft(text: str) -> str:
    """Soft hyphens inside a line print nothing (U+FFFE between letters joins them)."""
    for mark in SOFT_HYPHENS:
        text = text.replace(mark, "")
    return text
