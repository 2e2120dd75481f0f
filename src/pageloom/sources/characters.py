"""Character codes of text layers put right: compatibility forms, symbol fonts, accents drawn apart, mark order."""

import unicodedata
from collections.abc import Sequence

from pageloom.sources.glyphs import SPACE_NONE, Glyph, is_rtl

UNKNOWN = "\ufffd"

# Ranges that writers use for glyph variants of plain characters: Latin ligatures, Arabic presentation forms, and
# Kangxi radicals, which stand for the ideograph they look like.
_COMPATIBLE = ((0x2F00, 0x2FDF), (0xFB00, 0xFB06), (0xFB50, 0xFDFB), (0xFE70, 0xFEFC))
# Bullets of Symbol and Wingdings, at their private code points.
_BULLETS = {
    0xF0B7: "•", 0xF0A7: "▪", 0xF06C: "●", 0xF06E: "■", 0xF071: "❑", 0xF0A8: "□", 0xF076: "❖", 0xF0D8: "➢",
    0xF0E0: "→", 0xF0FC: "✓", 0xF0FE: "☑", 0xF06F: "□", 0xF0A3: "□", 0xF052: "☑",
}  # fmt: skip
_SPACING_ACCENTS = {
    "\u0060": "\u0300", "\u00b4": "\u0301", "\u02c6": "\u0302", "\u02dc": "\u0303", "\u00a8": "\u0308",
    "\u02c7": "\u030c", "\u00b8": "\u0327", "\u02da": "\u030a", "\u02d8": "\u0306", "\u00af": "\u0304",
}  # fmt: skip

_QUARTZ_FF = "\u21b5"
_TEX_FONTS = ("CM", "SF", "LM")


def character(code: int) -> str:
    """The text of a character code as a PDF library gives it; U+FFFD where it says nothing."""
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        return UNKNOWN
    if code < 0x2F00:
        return chr(code)
    if any(low <= code <= high for low, high in _COMPATIBLE):
        return unicodedata.normalize("NFKC", chr(code))
    if 0xF020 <= code <= 0xF0FF:
        # A TrueType font with a symbol encoding puts its letters at F000 + code.
        return _BULLETS.get(code) or (chr(code - 0xF000) if 0xF021 <= code <= 0xF07E else chr(code))
    return chr(code)


def composed(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Accents that are drawn as glyphs of their own joined with their letters, and right-to-left parts in order."""
    if any(is_rtl(glyph.text) for glyph in glyphs):
        glyphs = _rtl_in_order(list(glyphs))
    if any(glyph.text == _QUARTZ_FF for glyph in glyphs):
        glyphs = _tex_ligatures(glyphs)
    if not any(glyph.text in _SPACING_ACCENTS for glyph in glyphs):
        return list(glyphs)
    out: list[Glyph] = []
    for glyph in glyphs:
        accent = out[-1] if out and out[-1].text in _SPACING_ACCENTS else None
        if accent is not None and _stands_over(accent, glyph):
            letter = unicodedata.normalize("NFC", _dotted(glyph.text) + _SPACING_ACCENTS[accent.text])
            if len(letter) == 1:
                out[-1] = glyph._replace(
                    text=letter,
                    y0=min(accent.y0, glyph.y0),
                    y1=max(accent.y1, glyph.y1),
                    space=max(accent.space, SPACE_NONE),
                    broken=accent.broken,
                )
                continue
        out.append(glyph)
    return out


def _tex_ligatures(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Apple's PDF writer turns TeX's ligatures into nonsense: "ff" into U+21B5, "ffi" and "ffl" into nothing.

    What the unknown one is follows from the next letter: "ffl" stands before e, i, u and y, "ffi" before the others.
    """
    out: list[Glyph] = []
    for at, glyph in enumerate(glyphs):
        after = glyphs[at + 1].text if at + 1 < len(glyphs) and not glyphs[at + 1].space else ""
        inside = after.islower() or (at > 0 and glyphs[at - 1].text.isalpha() and not glyph.space)
        if glyph.text == _QUARTZ_FF and inside:
            glyph = glyph._replace(text="ff")  # noqa: PLW2901
        elif glyph.text == UNKNOWN and after.islower() and glyph.style.font.startswith(_TEX_FONTS):
            glyph = glyph._replace(text="ffl" if after in "eiuy" else "ffi")  # noqa: PLW2901
        out.append(glyph)
    return out


def _dotted(text: str) -> str:
    return {"\u0131": "i", "\u0237": "j"}.get(text, text)


def _stands_over(accent: Glyph, letter: Glyph) -> bool:
    """TeX's old fonts draw an accent and then the letter under it."""
    middle = (accent.x0 + accent.x1) / 2
    return letter.text.isalpha() and letter.x0 <= middle <= letter.x1 and abs(letter.y - accent.y) < letter.style.size


def _rtl_in_order(glyphs: list[Glyph]) -> list[Glyph]:
    """Parts of a right-to-left ligature come reversed, vowel marks may come before their letter."""
    at = 0
    while at < len(glyphs) - 1:
        if _out_of_order(glyphs, at):
            glyphs[at], glyphs[at + 1] = _swapped(glyphs[at], glyphs[at + 1])
            at += 1
        at += 1
    return [glyph._replace(space=SPACE_NONE) if unicodedata.combining(glyph.text[0]) else glyph for glyph in glyphs]


def _out_of_order(glyphs: list[Glyph], at: int) -> bool:
    one, other = glyphs[at], glyphs[at + 1]
    if unicodedata.combining(one.text[0]):
        return at > 0 and _overlap(one, other) > _overlap(one, glyphs[at - 1])
    return is_rtl(one.text) and is_rtl(other.text) and _same_box(one, other)


def _swapped(one: Glyph, other: Glyph) -> tuple[Glyph, Glyph]:
    space = min(one.space, other.space) if unicodedata.combining(one.text[0]) else one.space
    return other._replace(space=space, broken=one.broken), one._replace(space=SPACE_NONE, broken=False)


def _same_box(one: Glyph, other: Glyph) -> bool:
    return one.x0 == other.x0 and one.x1 == other.x1 and one.y0 == other.y0 and one.y1 == other.y1


def _overlap(mark: Glyph, letter: Glyph) -> float:
    return min(mark.x1, letter.x1) - max(mark.x0, letter.x0)
