"""A reading held against another text of the same page: what was invented, and what is missing.

Both texts are cut into overlapping windows of some eight letters. A letter that lies in a window known to the other
text is supported, wherever it stands there, so columns may come in any order. What no window supports is looked for
word by word among what the other text has left over (table cells in another order). The rest is gathered into passages;
short ones are misread letters, long ones are invented or missing text. Time grows with the sum of both lengths.
"""

import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pageloom.model.blocks import Block, Formula, Table, box_on
from pageloom.model.geometry import Box, Region
from pageloom.model.image import PageText
from pageloom.trust.passages import passages

# A window holds letters of this much weight; an ideograph weighs what two letters of an alphabet do.
WINDOW = 8
# Passages below this weight are taken for misread words, not sentences; an estimate, not measured yet.
PASSAGE = 18.0


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of running text with its place: a block, a cell or a line of a text layer."""

    text: str
    owner: str
    region: Region


@dataclass(frozen=True, slots=True)
class Passage:
    """Text that only one of the two has: its words, the block or line that holds it, offsets in that one's text."""

    text: str
    owner: str
    start: int
    end: int
    regions: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two texts of one page say the same.

    Attributes:
        invented, missing: passages only the reading has, or only the other text.
        letters: letters and digits of the reading and of the other text.
        unsupported, unread: letters of either that the other lacks, misread ones included.
    """

    invented: tuple[Passage, ...] = ()
    missing: tuple[Passage, ...] = ()
    letters: tuple[int, int] = (0, 0)
    unsupported: int = 0
    unread: int = 0
    doubtful: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def share(self, owner: str) -> float | None:
        """Share of a block's letters that the other text has too; None for a block without letters."""
        size = self.sizes.get(owner, 0)
        return 1.0 - self.doubtful.get(owner, 0) / size if size else None


def agreement(blocks: Sequence[Block], text: PageText, page: int) -> Agreement:
    """Hold the blocks of a page against its text layer.

    Formulas are left out on both sides: their letters are set in two dimensions and have no one order.
    """
    formulas = [box for block in blocks if isinstance(block, Formula) and (box := box_on(block, page))]
    read = [piece for block in blocks if not isinstance(block, Formula) for piece in _of_block(block, page)]
    layer = [
        Piece(line.text, f"line-{place}", Region(page, line.box))
        for place, line in enumerate(text.lines)
        if line.seen and not any(line.box.covered_by(box) > 0.5 for box in formulas)
    ]
    return compare(read, layer)


def compare(read: Sequence[Piece], other: Sequence[Piece]) -> Agreement:
    """Hold two texts of one page against each other."""
    left, right = _Letters(read), _Letters(other)
    left.support(right.windows())
    right.support(left.windows())
    _pair_words(left, right)
    doubtful, sizes = left.by_owner()
    return Agreement(
        invented=tuple(left.passages()),
        missing=tuple(right.passages()),
        letters=(len(left.text), len(right.text)),
        unsupported=len(left.text) - sum(left.known),
        unread=len(right.text) - sum(right.known),
        doubtful=doubtful,
        sizes=sizes,
    )


def _of_block(block: Block, page: int) -> Iterator[Piece]:
    place = Region(page, box_on(block, page) or Box(0.0, 0.0, 1.0, 1.0))
    if not isinstance(block, Table):
        yield Piece(block.text, block.id, place)
        return
    for cell in block.cells:
        yield Piece(cell.text, block.id, cell.regions[0] if cell.regions else place)


class _Letters:
    """The letters and digits of several pieces as one string, each with its way back."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self.starts: list[int] = []
        self.offsets: list[int] = []
        self.words: list[tuple[int, int]] = []
        letters: list[str] = []
        for piece in pieces:
            self.starts.append(len(letters))
            self._add(piece.text, letters)
        self.text = "".join(letters)
        self.weights = bytes(2 if letter >= "\u2e80" else 1 for letter in self.text)
        self.known = bytearray(len(self.text))

    def _add(self, text: str, letters: list[str]) -> None:
        inside = -1
        for offset, sign in enumerate(text):
            folded = [letter for letter in unicodedata.normalize("NFKC", sign).casefold() if letter.isalnum()]
            if folded and inside < 0:
                inside = len(letters)
            letters += folded
            self.offsets += [offset] * len(folded)
            if not folded and sign.isspace() and inside >= 0:
                self.words.append((inside, len(letters)))
                inside = -1
        if inside >= 0:
            self.words.append((inside, len(letters)))

    def spans(self) -> Iterator[tuple[int, int]]:
        """Start and end of every window."""
        end = weight = 0
        for start in range(len(self.text)):
            while weight < WINDOW and end < len(self.text):
                weight += self.weights[end]
                end += 1
            if weight < WINDOW:
                return
            yield start, end
            weight -= self.weights[start]

    def windows(self) -> Counter[str]:
        """How often every window occurs."""
        return Counter(self.text[start:end] for start, end in self.spans())

    def support(self, windows: Counter[str]) -> None:
        """Mark the letters in windows that the other text has; each of its windows supports one of ours."""
        left = windows.copy()
        for start, end in self.spans():
            window = self.text[start:end]
            if left[window] > 0:
                left[window] -= 1
                self.known[start:end] = b"\x01" * (end - start)

    def unknown_words(self) -> Iterator[tuple[int, int]]:
        """Words of which less than half the letters are supported."""
        for start, end in self.words:
            if 2 * sum(self.known[start:end]) < end - start:
                yield start, end

    def by_owner(self) -> tuple[dict[str, int], dict[str, int]]:
        """Unsupported letters and all letters by owner."""
        doubtful: dict[str, int] = defaultdict(int)
        sizes: dict[str, int] = defaultdict(int)
        for place, piece in enumerate(self.pieces):
            start, end = self._extent(place)
            sizes[piece.owner] += end - start
            doubtful[piece.owner] += end - start - sum(self.known[start:end])
        return dict(doubtful), dict(sizes)

    def passages(self) -> Iterator[Passage]:
        """Unsupported passages, each inside one piece or, for the lines of a layer, over neighbouring ones."""
        scores = [
            -0.8 * weight if known else float(weight) for known, weight in zip(self.known, self.weights, strict=True)
        ]
        for start, end in passages(scores, PASSAGE):
            first = bisect_right(self.starts, start) - 1
            last = bisect_right(self.starts, end - 1) - 1
            yield self._passage(start, end, first, last)

    def _passage(self, start: int, end: int, first: int, last: int) -> Passage:
        # Empty pieces share their start with the next one; only pieces with letters are named.
        places = [place for place in range(first, last + 1) if self._extent(place)[0] < self._extent(place)[1]]
        begin, stop = self.offsets[start], self.offsets[end - 1] + 1
        if len(places) == 1:
            words = self.pieces[places[0]].text[begin:stop]
        else:
            inner = [self.pieces[place].text for place in places[1:-1]]
            head, tail = self.pieces[places[0]].text[begin:], self.pieces[places[-1]].text[:stop]
            words = " ".join([head, *inner, tail])
        regions = tuple(dict.fromkeys(self.pieces[place].region for place in places))
        return Passage(words, self.pieces[places[0]].owner, begin, begin + len(words), regions)

    def _extent(self, place: int) -> tuple[int, int]:
        end = self.starts[place + 1] if place + 1 < len(self.starts) else len(self.text)
        return self.starts[place], end


def _pair_words(left: _Letters, right: _Letters) -> None:
    """Support unknown words by equal unknown words of the other text, one for one."""
    waiting: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for start, end in right.unknown_words():
        waiting[right.text[start:end]].append((start, end))
    for start, end in list(left.unknown_words()):
        others = waiting.get(left.text[start:end])
        if others:
            begin, stop = others.pop()
            left.known[start:end] = b"\x01" * (end - start)
            right.known[begin:stop] = b"\x01" * (stop - begin)
