"""Repetition found while a model writes: a bounded number of steps a token, whatever the length of the page.

Greedy vision-language models repeat themselves on 3-4 % of pages (DeepSeek-OCR-2, paper, table 4). A loop costs up to
the whole token budget, so it is found on the stream and the answer is cut. A cut is not a discard: the text is kept to
one period (`Loop.kept`), because real tables do hold hundreds of equal cells.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["repeat", "counter"]

CONTEXT = 8  # tokens that must agree before a period is taken for a candidate
MAX_PERIOD = 1024  # tokens; a longer period would have to fill the context to be a loop
# Found with benchmarks/engines/loops.py: the least delay that still leaves all clean texts alone.
REPEATED_TOKENS = 200  # run of tokens equal to those one period before that is a loop, and ...
REPEATED_PERIODS = 3  # ... how many periods it must hold
PLAIN_WORDS = 6  # a period of no more different tokens may be printed so: leaders, tables of equal cells, drills
PLAIN_TOKENS = 660  # run that such a period must have
COUNTER_STEPS = 120  # numbers in arithmetic progression with the same text between them

WINDOW = 512  # tokens over which novelty is measured
STALE = 0.08  # share of distinct 4-grams (digits alike) below which a page is suspect

_TOKEN = re.compile(r"</?[a-z]{1,8}>|<\|/?[a-z]{1,12}\|>|[A-Za-zÀ-ɏ]{1,16}|\d{1,3}|[ \t]{1,16}|\n|.", re.DOTALL)
_TAG_BEGUN = re.compile(r"</?[a-z]{0,8}$|<\|/?[a-z]{0,12}\|?$")
_GROWS = re.compile(r"[A-Za-zÀ-ɏ\d \t]")


@dataclass(frozen=True, slots=True)
class Loop:
    """A repetition in characters of the text fed: begins at `start`, repeats each `period`, was seen at `end`."""

    start: int
    period: int
    end: int
    kind: Kind = "repeat"

    def kept(self, text: str) -> str:
        """The text up to the end of the first period."""
        return text[: self.start + self.period]


class LoopDetector:
    """Fed the text of one answer in pieces of any length; says when it has become a loop.

    Attributes:
        stale: whether a stretch of the text said nothing new (counters, drifting boxes): a reason for suspicion only.
    """

    def __init__(self) -> None:
        self.stale = False
        self._tail = ""
        self._read = 0
        self._ids: list[int] = []
        self._starts: list[int] = []
        self._names: dict[str, int] = {}
        self._seen: dict[tuple[int, ...], int] = {}
        self._period = 0
        self._run = 0
        self._needed = REPEATED_TOKENS
        self._counter = _Counter()
        self._novelty = _Novelty()

    def feed(self, text: str) -> Loop | None:
        """Take a piece; the loop that the text has become with it, or None."""
        for token in self._tokens(text):
            found = self._take(token)
            if found:
                return found
        return None

    def _tokens(self, text: str) -> Iterator[str]:
        """Whole tokens; what may still grow waits for the next piece."""
        whole = self._tail + text
        begun = _TAG_BEGUN.search(whole, max(0, len(whole) - 16))
        end = begun.start() if begun else len(whole)
        self._tail = whole[end:]
        for found in _TOKEN.finditer(whole, 0, end):
            if found.end() == len(whole) and _GROWS.match(found[0]):
                self._tail = found[0]
                return
            yield found[0]

    def _take(self, token: str) -> Loop | None:
        name = self._names.setdefault(token, len(self._names))
        here = len(self._ids)
        self._ids.append(name)
        self._starts.append(self._read)
        self._read += len(token)
        self._follow(here, name)
        self.stale = self._novelty.take(-1 if token.isdecimal() else name) < STALE or self.stale
        step = self._counter.take(token, self._starts[here])
        if step:
            return Loop(step[0], step[1], self._read, "counter")
        return self._loop(here) if self._is_loop(here) else None

    def _follow(self, here: int, name: int) -> None:
        """Lengthen the run of the present period, or look for a new candidate."""
        if self._period and self._ids[here - self._period] == name:
            self._run += 1
        else:
            self._period = self._run = 0
        if here + 1 < CONTEXT:
            return
        key = tuple(self._ids[-CONTEXT:])
        last = self._seen.get(key)
        self._seen[key] = here
        if not self._period and last is not None and here - last <= MAX_PERIOD:
            self._period, self._run = here - last, CONTEXT

    def _is_loop(self, here: int) -> bool:
        """Whether the run is long enough; a period is looked at once, when its run has the least length."""
        if self._run < REPEATED_TOKENS:
            return False
        if self._run == REPEATED_TOKENS:
            different = len(set(self._ids[here + 1 - self._period : here + 1]))
            least = PLAIN_TOKENS if different <= PLAIN_WORDS else REPEATED_TOKENS
            self._needed = max(least, REPEATED_PERIODS * self._period)
        return self._run >= self._needed

    def _loop(self, here: int) -> Loop:
        first = here + 1 - self._run - self._period
        start = self._starts[first]
        return Loop(start, self._starts[first + self._period] - start, self._read)


class _Counter:
    """Numbers that rise by the same step with the same text between them."""

    def __init__(self) -> None:
        self.value: int | None = None
        self.digits = ""
        self.between: list[str] = []
        self.gap = ""
        self.step = 0
        self.steps = 0
        self.places: deque[int] = deque(maxlen=COUNTER_STEPS + 2)

    def take(self, token: str, place: int) -> tuple[int, int] | None:
        """Start and length in characters of a counter's first step, once it has counted long enough."""
        if token.isdecimal():
            if not self.digits:
                self.places.append(place)
            self.digits = (self.digits + token)[-9:]
            return None
        if self.digits:
            self._number(int(self.digits))
            self.digits = ""
        if len(self.between) < CONTEXT:
            self.between.append(token)
        if self.steps >= COUNTER_STEPS:
            return self.places[0], self.places[1] - self.places[0]
        return None

    def _number(self, value: int) -> None:
        gap = "".join(self.between)
        step = value - self.value if self.value is not None else 0
        steady = step != 0 and step == self.step and gap == self.gap
        self.steps = self.steps + 1 if steady else 0
        self.value, self.step, self.gap, self.between = value, step, gap, []


class _Novelty:
    """Share of distinct 4-grams in a sliding window."""

    def __init__(self) -> None:
        self.last: deque[int] = deque(maxlen=4)
        self.window: deque[tuple[int, ...]] = deque()
        self.counts: Counter[tuple[int, ...]] = Counter()

    def take(self, name: int) -> float:
        """Share after this token, 0-1; 1 until the window is full."""
        self.last.append(name)
        gram = tuple(self.last)
        self.window.append(gram)
        self.counts[gram] += 1
        if len(self.window) <= WINDOW:
            return 1.0
        old = self.window.popleft()
        self.counts[old] -= 1
        if not self.counts[old]:
            del self.counts[old]
        return len(self.counts) / WINDOW
