"""Paragraphs that a column break cut in two, put together again."""

from collections.abc import Sequence

from pageloom.layout.drafts import Draft
from pageloom.layout.pieces import around, is_cjk
from pageloom.layout.rows import LABEL, MARKER, STOPS, Row
from pageloom.layout.text import SOFT_HYPHENS

BETWEEN = {"footnote", "caption", "figure", "table", "seal", "signature"}  # what may stand between the two halves


def join_columns(drafts: Sequence[Draft]) -> list[Draft]:
    """Join the last paragraph of a column with the first of the next one where the sentence goes on.

    The joined draft stands where its first half stood; its rows jump back to the head of the next column.
    """
    out: list[Draft] = []
    for draft in drafts:
        before = _last_text(out)
        if before is not None and before.column != draft.column and _goes_on(before, draft):
            before.rows = [*before.rows, *draft.rows]
            before.column = draft.column
        else:
            out.append(draft)
    return out


def _last_text(drafts: Sequence[Draft]) -> Draft | None:
    for draft in reversed(drafts):
        if draft.kind not in BETWEEN:
            return draft
    return None


def _goes_on(first: Draft, second: Draft) -> bool:
    """Whether a sentence that stops at the foot of one column goes on at the head of the next."""
    if first.kind not in {"paragraph", "list_item"} or second.kind != "paragraph" or not first.rows or not second.rows:
        return False
    last, head = first.rows[-1], second.rows[0]
    if not 0.85 < last.em / head.em < 1.18 or head.y0 > last.y0 or _overlap(last, head):
        return False
    end, start = last.text.rstrip()[-1:], head.text.lstrip()[:1]
    if end in SOFT_HYPHENS or (end == "-" and start.islower()):
        return True
    if last.text.endswith(STOPS) or MARKER.match(head.text) or LABEL.match(head.text) or not _full(first.rows):
        return False
    return start.islower() or (is_cjk(start) and is_cjk(end) and len(first.rows) > 1)


def _overlap(last: Row, head: Row) -> bool:
    return min(last.x1, head.x1) - max(last.x0, head.x0) > 0.2 * min(last.x1 - last.x0, head.x1 - head.x0)


def _full(rows: Sequence[Row]) -> bool:
    """Whether the last row runs to the right edge of its paragraph."""
    return rows[-1].x1 > max(row.x1 for row in rows) - 2.5 * rows[-1].em


def runs_of(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows parted where they jump to another column."""
    runs: list[list[Row]] = []
    for row in rows:
        if runs and (row.y0 > runs[-1][-1].y0 - row.em or _near(runs[-1], row)):
            runs[-1].append(row)
        else:
            runs.append([row])
    return runs


def _near(run: Sequence[Row], row: Row) -> bool:
    x0, y0, x1, y1 = around(run)
    return row.y1 > y0 and row.y0 < y1 and row.x1 > x0 and row.x0 < x1
