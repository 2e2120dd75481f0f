"""Printed numbers of headings: 1.2.3, Chapter 4, IV., A.1, 第一章, 一、, （一）."""

import re
from dataclasses import dataclass

HAN = "一二三四五六七八九十百千零〇两"
HAN_NUMBER = rf"[{HAN}0-9０-９]{{1,6}}"
# From the widest part of a document to the narrowest; a name stands for one way to number.
ORDER = ("part", "chapter", "section_han", "article", "han", "han_round", "decimal", "round", "letter_round")
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "part",
        re.compile(rf"第{HAN_NUMBER}[编篇部卷](?:[\s:：、]|$|分)|(?:part|book|volume)\s+(?:[ivxlc]+|\d+)\b", re.I),
    ),
    (
        "chapter",
        re.compile(rf"第\s?{HAN_NUMBER}\s?章|chapter\s+(?:[ivxlc]+|\d+)\b|(?:appendix|annex)\b|附\s?[录件]", re.I),
    ),
    ("section_han", re.compile(rf"第\s?{HAN_NUMBER}\s?节")),
    ("article", re.compile(rf"第\s?{HAN_NUMBER}\s?条|(?:article|clause|section)\s+(?:[ivxlc]+|\d+)\b", re.I)),
    ("han", re.compile(rf"[{HAN}]{{1,4}}\s?[、，,.．]")),
    ("han_round", re.compile(rf"[（(]\s?[{HAN}]{{1,4}}\s?[)）]")),
    ("round", re.compile(r"[（(]\s?\d{1,3}\s?[)）]|\d{1,3}[)）]|[①-⑳]")),
    ("letter_round", re.compile(r"[（(]\s?[a-zA-Z]\s?[)）]|[a-z][)）]")),
)
# "2.1", "2.1.", "A.1"; a year or an amount is no number of a heading, so parts have one to three digits.
_DOTTED = re.compile(r"(?:[A-Z]|\d{1,2})(?:[.．]\d{1,3}){1,5}[.．]?(?=[\s\u3000\u3400-\u9fff]|$)")
_PLAIN = re.compile(r"\d{1,2}(?:[.．、](?!\d)|(?=[\s\u3000]+[^\W\d_]))")
_ROMAN = re.compile(r"(?=[IVXL])(?:X{0,3})(?:IX|IV|V?I{0,3})[.．](?=\s)")
_LETTER = re.compile(r"[A-Z][.．](?=\s)")


@dataclass(frozen=True, slots=True)
class Number:
    """How a heading is numbered: the way, and for dotted numbers the count of their parts."""

    way: str
    depth: int = 1


def number_of(text: str) -> Number | None:
    """The number a heading begins with, or None."""
    text = text.strip()
    for way, pattern in _PATTERNS:
        if pattern.match(text):
            return Number(way)
    dotted = _DOTTED.match(text)
    if dotted:
        return Number("decimal", len(re.findall(r"[A-Z]|\d+", dotted.group())))
    if _PLAIN.match(text):
        return Number("decimal", 1)
    if _ROMAN.match(text):
        return Number("roman")
    return Number("letter") if _LETTER.match(text) else None


def starts_anew(text: str) -> bool:
    """Whether a text begins like an item or heading of its own, not like the rest of a sentence."""
    return number_of(text) is not None or text.lstrip()[:1] in set("•‣◦▪▫●○■□◆◇·–—*➢❖✓※")
