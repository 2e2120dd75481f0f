"""Is an answer written in a script that the page's languages use? A model that drifts answers in another one."""

import re
from collections.abc import Sequence

_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_SCRIPTS = {
    "zh": re.compile(r"[㐀-鿿豈-﫿]"),
    "ja": re.compile(r"[぀-ヿ㐀-鿿]"),
    "ko": re.compile(r"[가-힯ᄀ-ᇿ㄰-㆏]"),
    "ru": re.compile(r"[Ѐ-ӿ]"),
    "uk": re.compile(r"[Ѐ-ӿ]"),
    "bg": re.compile(r"[Ѐ-ӿ]"),
    "el": re.compile(r"[Ͱ-Ͽ]"),
    "ar": re.compile(r"[؀-ۿ]"),
    "fa": re.compile(r"[؀-ۿ]"),
    "he": re.compile(r"[֐-׿]"),
    "th": re.compile(r"[฀-๿]"),
    "hi": re.compile(r"[ऀ-ॿ]"),
}
_LETTER = re.compile(r"[^\W\d_]")

LEAST_LETTERS = 80  # fewer say nothing about a page's language: numbers, names, stamps
LEAST_SHARE = 0.1  # of the letters in an expected script; a page of formulas or code keeps some words in its own


def unexpected_script(text: str, languages: Sequence[str]) -> bool:
    """Whether nearly no letter of a text belongs to a script of the given languages (BCP 47 tags).

    English words are allowed beside any other script only as long as some of the expected letters are there.
    """
    if not languages:
        return False
    letters = len(_LETTER.findall(text))
    if letters < LEAST_LETTERS:
        return False
    scripts = {_SCRIPTS.get(tag.split("-")[0].lower(), _LATIN) for tag in languages}
    return sum(len(script.findall(text)) for script in scripts) < LEAST_SHARE * letters
