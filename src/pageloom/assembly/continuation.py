"""Paragraphs cut by a column or page break, put together again."""

import unicodedata
from collections.abc import Sequence

from pageloom.assembly.numbering import starts_anew
from pageloom.assembly.places import exchanged, flow, letter_height, mean_confidence, place, without
from pageloom.layout.text import SOFT_HYPHENS, joined, words_of
from pageloom.model.blocks import Block, Caption, Chart, Figure, Footnote, ListItem, Paragraph, Reference, Table
from pageloom.model.document import Page
from pageloom.model.geometry import Box

Running = Paragraph | ListItem | Reference | Footnote
FLOATS = Figure | Chart | Caption | Table
CLOSING = "\"'”’»)）]】》」』"
TERMINAL = ".!?。！？…:：;；"
FULL_LINE = 0.06  # share of the column by which a full line may end before its right edge
INDENT = 0.04  # share of the column by which the first line of a new paragraph stands in
SAME_LETTERS = 0.25  # share by which the letters of two parts may differ in height
LOW = 0.5  # a part cut by a page break ends in the lower half of its page ...
HIGH = 0.4  # ... and goes on in the upper part of the next


def resolved(block: Block) -> Block:
    """A block whose text holds no mark of a soft hyphen; its printed lines show a hyphen at their end."""
    if isinstance(block, Table) or not any(mark in block.text for mark in SOFT_HYPHENS):
        return block
    return block.model_copy(update={"text": joined([block.text])})


def columns_joined(page: Page) -> Page:
    """A page on which paragraphs cut by a column break are one block."""
    running = [block for block in flow(page) if not isinstance(block, FLOATS)]
    heir: Block | None = None
    for block in running:
        if heir is not None and _next_column(heir, block, page) and _goes_on(heir, page, block, page):
            heir = merged(heir, block, "joined_over_column")
            page = _absorbed(page, heir, block)
        else:
            heir = block
    return page


def page_joined(earlier: Page, first: Block, later: Page) -> tuple[Block, Page] | None:
    """Join a page's last paragraph with the first one of the next page.

    Returns:
        The grown block and the later page without its part, or None when nothing goes on there.
    """
    second = head_of(later)
    if second is None or not isinstance(first, Running) or not isinstance(second, Running):
        return None
    last_page = max(region.page for region in first.regions) if first.regions else earlier.number
    ends = place(first, last_page)
    if ends.y1 < LOW or place(second, later.number).y0 > HIGH or not _goes_on(first, earlier, second, later):
        return None
    grown = merged(first, second, "joined_over_page")
    return grown, without(later, second.id, first.id)


def tail_of(page: Page) -> Block | None:
    """The last running text of a page; pictures, tables and their captions may stand after it."""
    running = [block for block in flow(page) if not isinstance(block, FLOATS)]
    return running[-1] if running else None


def head_of(page: Page) -> Block | None:
    """The first running text of a page."""
    running = [block for block in flow(page) if not isinstance(block, FLOATS)]
    return running[0] if running else None


def merged(first: Block, second: Block, note: str) -> Block:
    """The first block grown by the second: regions, lines and words of both, the id of the first."""
    if isinstance(first, Table) or isinstance(second, Table):
        return first
    before = first.text + _lost_hyphen(first)
    words = joined([before, second.text], words_of([first.text, second.text]))
    sizes = [(first.confidence, len(first.text)), (second.confidence, len(second.text))]
    return first.model_copy(
        update={
            "text": words,
            "regions": (*first.regions, *second.regions),
            "lines": (*first.lines, *second.lines),
            "confidence": mean_confidence(sizes),
            "notes": tuple(dict.fromkeys((*first.notes, *second.notes, note))),
        }
    )


def _absorbed(page: Page, heir: Block, gone: Block) -> Page:
    page = exchanged(page, heir)
    continued = page.continued
    return without(page, gone.id, heir.id).model_copy(update={"continued": continued})


def _lost_hyphen(block: Block) -> str:
    """The soft hyphen at the end of a block's last line, where joining its lines has dropped it."""
    end = block.lines[-1].text.rstrip()[-1:] if block.lines else ""
    return end if end and end in SOFT_HYPHENS and not isinstance(block, Table) and block.text[-1:] != end else ""


def _goes_on(first: Block, earlier: Page, second: Block, later: Page) -> bool:
    """Whether the second block is the rest of the first one's last sentence."""
    if not isinstance(first, Running) or not isinstance(second, Running) or not _kinds_agree(first, second):
        return False
    left, right = first.text.strip(), second.text.strip()
    if not left or not right or not _alike(first, earlier, second, later):
        return False
    if starts_anew(right):
        return False
    if (left + _lost_hyphen(first))[-1] in f"-\u2010{SOFT_HYPHENS}":
        return right[0].islower()
    if left.rstrip(CLOSING)[-1:] in TERMINAL:
        return False
    if right[0].islower():
        return True
    if not first.lines or not second.lines:
        return _ideographic(left[-1]) and _ideographic(right[0])
    whole = _full(first, earlier) and not _indented(second, later)
    return whole and (_ideographic(left[-1]) or len(first.lines) > 1)


def _kinds_agree(first: Running, second: Running) -> bool:
    if isinstance(second, Paragraph):
        return not isinstance(first, Footnote)
    return isinstance(second, Footnote) and isinstance(first, Footnote)


def _ideographic(sign: str) -> bool:
    return "\u2e80" <= sign <= "\u9fff" or "\uf900" <= sign <= "\ufaff" or unicodedata.east_asian_width(sign) in "WF"


def _alike(first: Block, earlier: Page, second: Block, later: Page) -> bool:
    one, other = letter_height(first, earlier), letter_height(second, later)
    return one is None or other is None or abs(one - other) <= SAME_LETTERS * max(one, other)


def _column(block: Block, page: Page, on: int) -> tuple[float, float]:
    """Left and right edge of the column a block stands in: of all text above and below it."""
    own = place(block, on)
    others = [place(other, page.number) for other in page.blocks if isinstance(other, Paragraph | ListItem)]
    same = [box for box in others if _overlap(box, own) > 0.5 and box.width < own.width * 1.5]
    boxes = [own, *same] if on == page.number else [own]
    return min(box.x0 for box in boxes), max(box.x1 for box in boxes)


def _overlap(one: Box, other: Box) -> float:
    shared = min(one.x1, other.x1) - max(one.x0, other.x0)
    return shared / max(1e-6, min(one.width, other.width))


def _full(block: Block, page: Page) -> bool:
    last = block.lines[-1]
    left, right = _column(block, page, last.page)
    return last.box.x1 >= right - FULL_LINE * (right - left)


def _indented(block: Block, page: Page) -> bool:
    left, right = _column(block, page, page.number)
    return block.lines[0].box.x0 > left + INDENT * (right - left)


def _next_column(first: Block, second: Block, page: Page) -> bool:
    """Whether the second block heads the column to the right of the one that the first ends."""
    one, other = _last_place(first, page.number), place(second, page.number)
    if other.x0 < one.x1 - 0.02 or one.width < 0.15 or other.y0 > one.y0 - 0.02:
        return False
    boxes = [place(block, page.number) for block in flow(page) if block.id not in (first.id, second.id)]
    return not _between(boxes, one, below=True) and len(first.lines) != 1 and one.y1 > LOW and other.y1 < one.y1 + 0.5


def _last_place(block: Block, page: int) -> Box:
    boxes = [region.box for region in block.regions if region.page == page]
    return boxes[-1] if boxes else place(block, page)


def _between(boxes: Sequence[Box], one: Box, *, below: bool) -> bool:
    return any(_overlap(box, one) > 0.3 and (box.y0 >= one.y1 - 0.005) == below for box in boxes if box.y0 > one.y0)
