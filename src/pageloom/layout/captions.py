"""Captions find the figure or table they belong to."""

import re
from collections.abc import Sequence

from pageloom.layout.drafts import Draft

_TABLE = re.compile(r"(?:tab|表)", re.IGNORECASE)


def adopt(drafts: Sequence[Draft]) -> None:
    """Link every caption to the nearest figure or table on the page; tables first for captions that say so."""
    islands = [draft for draft in drafts if draft.island is not None and draft.island.kind in {"figure", "table"}]
    for draft in drafts:
        if draft.kind != "caption" or not islands:
            continue
        wanted = "table" if _TABLE.match(draft.text) else "figure"
        fitting = [other for other in islands if other.kind == wanted] or islands
        draft.parent = min(fitting, key=lambda other: _distance(draft, other))


def _distance(caption: Draft, island: Draft) -> float:
    """White space between two rectangles, points; sideways counts double."""
    a, b = caption.place, island.place
    wide = max(0.0, max(a[0], b[0]) - min(a[2], b[2]))
    high = max(0.0, max(a[1], b[1]) - min(a[3], b[3]))
    return 2 * wide + high
