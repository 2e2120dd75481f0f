"""Several servers of one model: which is asked next, and which is left alone for a while."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

CONSECUTIVE = 5  # failures in a row that open a breaker (SERVING.md 3.3)
WINDOW_S, LEAST_CALLS, FAILED_SHARE = 30.0, 20, 0.5
FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 60.0

LEAST_LIMIT = 4
LESS = 0.7  # a 429, 503 or timeout takes this much of the limit (SERVING.md 2.6: AIMD)
CALM_S = 1.0  # refusals within a second are one signal

Clock = Callable[[], float]


@dataclass(slots=True)
class Breaker:
    """Keeps calls away from a server whose connections fail; what a page says never counts.

    Closed until too many transport faults, then open for 5, 10, 20 ... 60 s, after which one call may try.
    """

    clock: Clock = time.monotonic
    pause_s: float = FIRST_PAUSE_S
    open_until: float = -math.inf
    trying: bool = False
    in_a_row: int = 0
    calls: deque[tuple[float, bool]] = field(default_factory=deque)

    @property
    def closed(self) -> bool:
        """Whether the server was well at the last look."""
        return self.open_until == -math.inf

    def allows(self) -> bool:
        """Whether a call may be made now."""
        return self.closed or (not self.trying and self.clock() >= self.open_until)

    def begun(self) -> None:
        """A call is made; through an open breaker it is the one that tries."""
        self.trying = not self.closed

    def done(self, *, well: bool) -> None:
        """A call has ended: it reached the server, or the transport failed."""
        now = self.clock()
        self.calls.append((now, well))
        while self.calls and self.calls[0][0] < now - WINDOW_S:
            self.calls.popleft()
        self.in_a_row = 0 if well else self.in_a_row + 1
        if self.trying:
            self.trying = False
            self._reopen(now) if not well else self._close()
        elif self.closed and self._too_many():
            self.open_until = now + self.pause_s

    def left(self) -> None:
        """A call was cancelled by its caller; it says nothing about the server."""
        self.trying = False

    def _too_many(self) -> bool:
        failed = sum(1 for _, well in self.calls if not well)
        share = failed / len(self.calls) if len(self.calls) >= LEAST_CALLS else 0.0
        return self.in_a_row >= CONSECUTIVE or share >= FAILED_SHARE

    def _reopen(self, now: float) -> None:
        self.pause_s = min(LONGEST_PAUSE_S, 2 * self.pause_s)
        self.open_until = now + self.pause_s

    def _close(self) -> None:
        self.pause_s, self.open_until = FIRST_PAUSE_S, -math.inf
        self.calls.clear()


@dataclass(slots=True)
class Limit:
    """How many pages a server is given at once: one more a round while it is full, a third less when it refuses."""

    most: int
    clock: Clock = time.monotonic
    now: float = 0.0
    refused_at: float = -math.inf

    def __post_init__(self) -> None:
        self.now = float(self.most)

    def well(self, outstanding: int) -> None:
        """A page came back."""
        if outstanding >= int(self.now):
            self.now = min(float(self.most), self.now + 1 / self.now)

    def refused(self) -> None:
        """The server said 429 or 503, or made no progress."""
        if self.clock() - self.refused_at >= CALM_S:
            self.refused_at = self.clock()
            self.now = max(float(min(LEAST_LIMIT, self.most)), LESS * self.now)


@dataclass(slots=True)
class Replica:
    """One server: where it is, how many pages it has, how it does."""

    url: str
    limit: Limit
    breaker: Breaker = field(default_factory=Breaker)
    outstanding: int = 0
    chosen: int = 0

    @property
    def free(self) -> bool:
        """Whether it can be given another page now."""
        return self.breaker.allows() and self.outstanding < int(self.limit.now)


class Replicas:
    """The servers of one engine."""

    def __init__(self, urls: list[str], most_each: int, clock: Clock = time.monotonic) -> None:
        self.all = [Replica(url, Limit(most_each, clock), Breaker(clock)) for url in urls]

    def pick(self) -> Replica | None:
        """The free server with the fewest pages; None when all are full or left alone."""
        free = [replica for replica in self.all if replica.free]
        if not free:
            return None
        best = min(free, key=lambda replica: (replica.outstanding, replica.chosen))
        best.chosen += 1
        best.outstanding += 1
        best.breaker.begun()
        return best

    def gave_up(self) -> bool:
        """Whether no server has been well at the last look."""
        return all(not replica.breaker.closed for replica in self.all)
