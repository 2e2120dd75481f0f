"""Which page is read next: plain data, told the time by its caller.

Between tenants: start-time fair queueing, so that splitting a job into many gains nothing. Within a tenant: fewest
remaining pages first, with a quarter of the dispatches for first pages and a tenth for the oldest document
(SERVING.md 2.3: linear ageing decays to first-come-first-served in overload; fixed shares do not).
"""

import heapq
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from pageloom.errors import QueueFull
from pageloom.model.job import PageTask

FIRST_PAGE_SHARE = 0.25
OLDEST_SHARE = 0.10


@dataclass(slots=True)
class _Waiting:
    """The pages of one job that are not dispatched yet."""

    job: str
    tenant: str
    arrived: float
    pages: deque[PageTask]
    begun: bool = False


@dataclass(slots=True)
class _Tenant:
    """One user's jobs, in three orders that are cleaned when read.

    Attributes:
        finish: virtual time at which this tenant's dispatched pages are paid for.
        shortest: heap of (pages left, arrival number, job).
        fresh: jobs without a dispatched page, oldest first.
        oldest: all jobs, oldest first.
        owed_first, owed_oldest: credit towards the two shares, each at most one dispatch.
    """

    weight: float
    finish: float = 0.0
    shortest: list[tuple[int, int, str]] = field(default_factory=list)
    fresh: deque[str] = field(default_factory=deque)
    oldest: deque[str] = field(default_factory=deque)
    owed_first: float = 0.0
    owed_oldest: float = 0.0
    waiting: int = 0


class PageQueue:
    """Pages of all jobs that wait for a place on the line.

    Args:
        limit: pages that may wait in all; None = no bound.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self._jobs: dict[str, _Waiting] = {}
        self._tenants: dict[str, _Tenant] = {}
        self._clock = 0.0
        self._arrivals = 0
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, job: str, tenant: str, pages: Iterable[PageTask], now: float, weight: float = 1.0) -> None:
        """Let the pages of a new job wait.

        Args:
            job: id of the job.
            tenant: whose it is.
            pages: its pages, in the order they are to be read.
            now: seconds on any steady clock.
            weight: this tenant's share against others'.

        Raises:
            QueueFull: more pages would wait than `limit`; none of them is taken.
        """
        several = deque(pages)
        if self.limit is not None and self._length + len(several) > self.limit:
            raise QueueFull(f"{self._length} pages are waiting already, {self.limit} may wait")
        if not several:
            return
        self._arrivals += 1
        self._jobs[job] = _Waiting(job, tenant, now, several)
        owner = self._tenants.setdefault(tenant, _Tenant(weight))
        owner.weight = weight
        if owner.waiting == 0:
            owner.finish = max(owner.finish, self._clock)  # an idle tenant saves up nothing
        owner.waiting += len(several)
        heapq.heappush(owner.shortest, (len(several), self._arrivals, job))
        owner.fresh.append(job)
        owner.oldest.append(job)
        self._length += len(several)

    def put_back(self, task: PageTask, tenant: str, now: float) -> None:
        """Let a dispatched page wait again, before the other pages of its job (its engine died)."""
        held = self._jobs.get(task.job)
        if held is None:
            self.add(task.job, tenant, [task], now)
            return
        held.pages.appendleft(task)
        owner = self._tenants[held.tenant]
        owner.waiting += 1
        self._length += 1
        self._arrivals += 1
        heapq.heappush(owner.shortest, (len(held.pages), self._arrivals, task.job))

    def pop(self) -> PageTask | None:
        """The page to be read next, or None when none waits."""
        owed = [(max(owner.finish, 0.0), name) for name, owner in self._tenants.items() if owner.waiting]
        if not owed:
            return None
        start, name = min(owed)
        owner = self._tenants[name]
        self._clock = max(self._clock, start)
        owner.finish = start + 1.0 / owner.weight
        held = self._jobs[self._choice(owner)]
        held.begun = True
        task = held.pages.popleft()
        owner.waiting -= 1
        self._length -= 1
        if held.pages:
            self._arrivals += 1
            heapq.heappush(owner.shortest, (len(held.pages), self._arrivals, held.job))
        else:
            del self._jobs[held.job]
        if owner.waiting == 0 and owner.finish <= self._clock:
            del self._tenants[name]
        return task

    def _choice(self, owner: _Tenant) -> str:
        """The job of a tenant whose page goes next: by share where one is due, else the one with fewest pages left."""
        owner.owed_first = min(1.0, owner.owed_first + FIRST_PAGE_SHARE)
        owner.owed_oldest = min(1.0, owner.owed_oldest + OLDEST_SHARE)
        fresh = self._front(owner.fresh, fresh=True)
        if fresh is not None and owner.owed_first >= 1.0:
            owner.owed_first -= 1.0
            return fresh
        oldest = self._front(owner.oldest, fresh=False)
        if oldest is not None and owner.owed_oldest >= 1.0:
            owner.owed_oldest -= 1.0
            return oldest
        while True:
            left, _, job = owner.shortest[0]
            held = self._jobs.get(job)
            if held is not None and len(held.pages) == left:
                return job
            heapq.heappop(owner.shortest)

    def _front(self, jobs: deque[str], *, fresh: bool) -> str | None:
        while jobs:
            held = self._jobs.get(jobs[0])
            if held is not None and not (fresh and held.begun):
                return jobs[0]
            jobs.popleft()
        return None

    def remove(self, job: str) -> int:
        """Forget the waiting pages of a job; returns how many there were."""
        held = self._jobs.pop(job, None)
        if held is None:
            return 0
        self._tenants[held.tenant].waiting -= len(held.pages)
        self._length -= len(held.pages)
        return len(held.pages)

    def waiting(self, job: str) -> int:
        """Pages of a job that wait."""
        held = self._jobs.get(job)
        return len(held.pages) if held else 0

    def ahead_of(self, job: str) -> int:
        """About how many pages will be dispatched before the job's next one.

        An estimate from fewest-remaining-first within its tenant and equal turns between tenants; 0 when it is next.
        """
        held = self._jobs.get(job)
        if held is None:
            return 0
        left = len(held.pages)
        own = sum(
            len(other.pages)
            for other in self._jobs.values()
            if other.tenant == held.tenant
            and other.job != job
            and (len(other.pages), other.arrived) < (left, held.arrived)
        )
        others = sum(
            min(owner.waiting, own + 1)
            for name, owner in self._tenants.items()
            if name != held.tenant and owner.waiting
        )
        return own + others
