"""Which failure is tried again, how often, and what changes."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pageloom.errors import EngineDead, EngineError, EngineTimeout, EngineUnavailable
from pageloom.model.document import Attempt, Route
from pageloom.model.reading import PageRequest, Reading
from pageloom.pipeline.askers import Asker, Events
from pageloom.pipeline.wire import PassingImage


class Rules(Protocol):
    """What the ladder needs to know of `HowToRead`."""

    @property
    def engine(self) -> str:
        """Name of the engine that reads pixels."""
        ...

    @property
    def native(self) -> str | None:
        """Name of the engine that reads text layers, or None."""
        ...

    @property
    def attempts(self) -> int:
        """Tries a page gets."""
        ...


@dataclass(frozen=True, slots=True)
class Rung:
    """One step: its name, the engine that is asked."""

    name: str
    engine: str


@dataclass(frozen=True, slots=True)
class Climbed:
    """The reading that stands, and every try that led to it."""

    reading: Reading
    attempts: tuple[Attempt, ...]


def rungs(way: Route, how: Rules) -> Sequence[Rung]:
    """The steps for a page, in order; a native page that cannot be read natively is read from its pixels."""
    first = Rung("native", how.native) if way.name == "native" and how.native else Rung("ocr", how.engine)
    again = Rung("again", first.engine)
    other = Rung("ocr", how.engine) if first.name == "native" else again
    return (first, *(again if n == 0 else other for n in range(how.attempts - 1)))


async def climb(
    way: Route,
    request: PageRequest,
    passing: PassingImage | None,
    askers: Mapping[str, Asker],
    how: Rules,
    events: Events,
) -> Climbed:
    """Ask until a reading stands.

    Raises:
        EngineError: the last rung failed too.
    """
    tried: list[Attempt] = []
    steps = rungs(way, how)
    for number, rung in enumerate(steps, 1):
        started = time.monotonic()
        try:
            asked = replace(request, attempt=f"{request.attempt}.{number}")
            reading = await askers[rung.engine].read(asked, passing, events)
        except (EngineDead, EngineTimeout, EngineUnavailable) as error:
            tried.append(_attempt(rung, error.code, started))
            if number == len(steps) or isinstance(error, EngineTimeout):
                raise
            continue
        return Climbed(reading, (*tried, _attempt(rung, reading.finish, started)))
    raise EngineError(f"page {request.number}: no attempt was allowed")


def _attempt(rung: Rung, outcome: str, started: float) -> Attempt:
    return Attempt(rung=rung.name, engine=rung.engine, outcome=outcome, seconds=round(time.monotonic() - started, 3))
