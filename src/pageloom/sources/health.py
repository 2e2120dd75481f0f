"""Measured values by which a text layer is trusted or not."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pageloom.model.geometry import Box
from pageloom.model.image import TextHealth, TextLine
from pageloom.sources.characters import UNKNOWN
from pageloom.sources.letters import plausibility

_DRAWN = frozenset("._-\u00ad\u00b7\u2013\u2014\u2015\u2026\u2022\u2500")
_COVER_CELLS = 64  # the page is cut into 64 x 64 cells to measure what images cover


@dataclass(slots=True)
class Counts:
    """Counted while glyphs are read."""

    unmapped: int = 0
    invisible: int = 0
    doubled: int = 0


def health_of(texts: Iterable[str], counts: Counts, lines: Sequence[TextLine], images: Sequence[Box]) -> TextHealth:
    """Health of one page's text layer.

    Args:
        texts: of every glyph that is not white space, doubled ones included.
        counts: what was found wrong with them.
        lines: of the page, in the order of the text layer.
        images: image boxes, page fractions.
    """
    characters = Counter(texts)
    total = characters.total()
    if not total:
        return TextHealth(image_cover=image_cover(images))
    symbols = sum(number for text, number in characters.items() if _is_symbol(text))
    letters = sum(number for text, number in characters.items() if unicodedata.category(text[0])[0] in "LNM")
    return TextHealth(
        glyphs=total,
        unmapped=(counts.unmapped + characters[UNKNOWN]) / total,
        symbols=symbols / (symbols + letters) if symbols + letters else 0.0,
        invisible=counts.invisible / max(1, total - counts.doubled),
        image_cover=image_cover(images),
        plausible=plausibility(line.text for line in lines),
        doubled=counts.doubled / total,
    )


def image_cover(images: Sequence[Box]) -> float:
    """Share of the page covered by its images, 0-1, overlaps counted once."""
    cells = np.zeros((_COVER_CELLS, _COVER_CELLS), bool)
    for box in images:
        x0, x1 = round(box.x0 * _COVER_CELLS), round(box.x1 * _COVER_CELLS)
        y0, y1 = round(box.y0 * _COVER_CELLS), round(box.y1 * _COVER_CELLS)
        cells[y0:y1, x0:x1] = True
    return float(cells.mean())


def _is_symbol(text: str) -> bool:
    """All but letters, digits and marks; leaders, rules and dashes are drawing, and say nothing."""
    return unicodedata.category(text[0])[0] not in "LNM" and text not in _DRAWN
