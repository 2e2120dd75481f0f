"""Small repairs of a read line that are right whatever the page says."""

import re

# One mark again and again: leaders, rules drawn with dashes. The recogniser's count of them means nothing.
_RUN = re.compile(r"([^\w\s]|_)(?:\s?\1){4,}")
_SCHEME = re.compile(r"(?<![a-z])(https?|ftp):/(?=[^/\s])", re.IGNORECASE)
_DASH = re.compile(r"(?<=\d)一(?=\d)")


def mended(text: str) -> str:
    """The text with `http://` whole and a dash, not the Chinese one, between digits.

    CTC merges two equal characters that touch, and in serif fonts a dash looks like the character for one.
    """
    return _DASH.sub("—", _SCHEME.sub(r"\1://", text))


def trimmed(text: str) -> tuple[str, bool]:
    """The text with runs of one mark cut to three, and whether there was one."""
    short, count = _RUN.subn(r"\1\1\1", text)
    return short, count > 0
