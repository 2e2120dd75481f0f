"""Which failure is tried again, how often, and what changes.

A worker engine (text layer, embedded CPU engine) answers a page the same way each time, so only its crashes are tried
again. A language model is asked otherwise: with another guard and some temperature, for plain words without places,
with the page as one view; and at last another engine reads the page. Every try is recorded.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pageloom.errors import EngineDead, EngineError, EngineTimeout, EngineUnavailable, PageloomError, RecognitionError
from pageloom.model.blocks import text_of
from pageloom.model.document import Attempt, Route
from pageloom.model.geometry import PageSize
from pageloom.model.image import DrawnPage, PageImage, PageInfo
from pageloom.model.reading import Ask, Decoding, PageRequest, Reading
from pageloom.pipeline.askers import Asker, Events, LoopAsker
from pageloom.pipeline.wire import PassingImage, drawn_frame, drawn_from

CPU_ENGINE, TEXT_LAYER = "onnx", "native"

OTHER = Decoding(max_output_tokens=0, temperature=0.2, ngram=16, ngram_window=512)
"""Another guard against repetition and some chance: SERVING.md 3.3 L1; 0 tokens = the dialect's own limit."""

DEATHS = 2
"""Deaths of an engine that one page survives; they are no fault of the page and do not count as its tries."""

ENCODED_DPI = 144.0  # at which pages are drawn for engines that are sent a JPEG (official PDF script)


@dataclass(slots=True)
class RetryBudget:
    """At most one page in ten is put to a model again, so that a sick engine is not stormed with retries.

    A run starts with a few retries to spend, or a document of one page would have none.
    """

    share: float = 0.1
    saved: float = 10.0
    most: float = 50.0

    def asked(self) -> None:
        """A page was asked for the first time."""
        self.saved = min(self.most, self.saved + self.share)

    def spend(self) -> bool:
        """Whether one more retry is allowed; if so it is spent."""
        if self.saved < 1:
            return False
        self.saved -= 1
        return True


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
    """One step: its name, the engine that is asked, and what changes in the request."""

    name: str
    engine: str
    change: Callable[[PageRequest], PageRequest] = field(default=lambda request: request)


@dataclass(frozen=True, slots=True)
class Climbed:
    """The reading that stands, and every try that led to it."""

    reading: Reading
    attempts: tuple[Attempt, ...]


def ladder_for(way: Route, how: Rules, ask: Ask, askers: Mapping[str, Asker]) -> Sequence[Rung]:
    """The steps for a page, in order, `how.attempts` at most.

    The last step of a model's ladder is the other engine that can read the page, where there is one.
    """
    if way.name == "native" and how.native:
        first, again = Rung("native", how.native), Rung("ocr", how.engine)
        return (first, *(again for _ in range(how.attempts - 1)))
    if not isinstance(askers.get(how.engine), LoopAsker):
        return (Rung("ocr", how.engine), *(Rung("again", how.engine) for _ in range(how.attempts - 1)))
    steps = _model_rungs(how.engine, ask)
    other = _other_engine(way, how, ask, askers)
    if other is None:
        return steps[: how.attempts]
    return (*steps[: max(1, how.attempts - 1)], *([other] if how.attempts > 1 else []))


def _model_rungs(engine: str, ask: Ask) -> tuple[Rung, ...]:
    first = Rung("grounded" if ask.task == "markdown" else ask.task, engine)
    other = Rung("other_decoding", engine, lambda request: replace(request, decoding=OTHER))
    one_view = Rung("one_view", engine, lambda request: replace(request, tiles=False))
    if ask.task != "markdown":
        return first, other, one_view
    plain = Rung("plain", engine, lambda request: replace(request, ask=Ask("text")))
    return first, other, plain, one_view


def _other_engine(way: Route, how: Rules, ask: Ask, askers: Mapping[str, Asker]) -> Rung | None:
    """Who else can read this page: its own text layer where the route found it sound, or the CPU engine."""
    if ask.task not in {"markdown", "text"}:
        return None
    if way.name == "both" and TEXT_LAYER in askers:
        return Rung("native", TEXT_LAYER)
    if CPU_ENGINE in askers and how.engine != CPU_ENGINE:
        return Rung("cpu", CPU_ENGINE)
    return None


def fault_of(reading: Reading) -> str:
    """Why a model's reading is not taken as it stands; empty when nothing speaks against it."""
    if reading.finish != "stop":
        return reading.finish
    for note in ("empty_answer", "language_unexpected", "bad_grounding"):
        if note in reading.notes:
            return note
    return ""


NEXT = {"length": "plain", "language_unexpected": "plain"}
"""Faults for which the second rung would change nothing: a page too long for its budget needs fewer tokens."""


class _Climb:
    """One page on its way up."""

    def __init__(self, steps: Sequence[Rung], budget: RetryBudget) -> None:
        self.steps = steps
        self.budget = budget
        self.tried: list[Attempt] = []
        self.readings: list[Reading] = []
        self.deaths = 0

    def stands(self, reading: Reading, rung: Rung, *, model: bool) -> bool:
        """Whether this reading ends the climb."""
        fault = fault_of(reading) if model else ""
        self.readings.append(reading)
        return not fault or self._agreed(reading, rung)

    def _agreed(self, reading: Reading, rung: Rung) -> bool:
        """Two ways of asking ran into the same repetition: it is printed so (a table of equal cells)."""
        if reading.finish != "loop" or rung.name != "other_decoding" or len(self.readings) < 2:
            return False
        return self.readings[-2].raw[-200:] == reading.raw[-200:]

    def after(self, place: int, fault: str) -> int | None:
        """Place of the next rung, or None at the top; a model's retries are paid from the budget."""
        wanted = next(
            (n for n in range(place + 1, len(self.steps)) if self.steps[n].name == NEXT.get(fault)), place + 1
        )
        if wanted >= len(self.steps):
            return None
        same = self.steps[wanted].engine == self.steps[place].engine
        if not same or self.budget.spend():
            return wanted
        last = len(self.steps) - 1
        return last if last > place and self.steps[last].engine != self.steps[place].engine else None

    def best(self) -> Reading | None:
        """Of the readings with a fault: one that ended by itself, else the one with most words."""
        return max(self.readings, key=lambda one: (one.finish == "stop", _letters(one)), default=None)


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
        EngineError, RecognitionError: no rung gave a reading; the last fault.
    """
    budget = getattr(how, "retries", None) or RetryBudget()
    budget.asked()
    climbing = _Climb(ladder_for(way, how, request.ask, askers), budget)
    place: int | None = 0
    error: PageloomError = EngineError(f"page {request.number}: no attempt was allowed")
    while place is not None:
        rung = climbing.steps[place]
        model = isinstance(askers[rung.engine], LoopAsker)
        started = time.monotonic()
        asked = rung.change(replace(request, attempt=f"{request.attempt}.{len(climbing.tried) + 1}"))
        try:
            reading = await askers[rung.engine].read(asked, _pixels(rung, request, passing), events)
        except (EngineDead, EngineTimeout, EngineUnavailable, RecognitionError) as fault:
            climbing.tried.append(_attempt(rung, fault.code, started))
            error = fault
            place = _after_error(climbing, place, fault, model=model)
            continue
        ended = (fault_of(reading) if model else "") or reading.finish
        climbing.tried.append(_attempt(rung, ended, started))
        if climbing.stands(reading, rung, model=model):
            return Climbed(reading, tuple(climbing.tried))
        place = climbing.after(place, ended)
    best = climbing.best()
    if best is None:
        error.attempts = tuple(climbing.tried)
        raise error
    return Climbed(best, tuple(climbing.tried))


def _after_error(climbing: _Climb, place: int, fault: PageloomError, *, model: bool) -> int | None:
    """Where an engine's fault leads: a dead engine's page is put to its successor under a new attempt id."""
    if isinstance(fault, EngineDead) and model and climbing.deaths < DEATHS:
        climbing.deaths += 1
        return place
    if isinstance(fault, EngineTimeout) and not model:
        others = [
            n for n in range(place + 1, len(climbing.steps)) if climbing.steps[n].engine != climbing.steps[place].engine
        ]
        return others[0] if others else None  # the same process would take as long again
    return climbing.after(place, fault.code)


def _pixels(rung: Rung, request: PageRequest, passing: PassingImage | None) -> PassingImage | None:
    """Raw pixels for the CPU engine on a page that was drawn as JPEG for a model."""
    if passing is not None or rung.engine != CPU_ENGINE or request.encoded is None:
        return passing
    import cv2  # only a page that a model could not read comes here
    import numpy as np

    decoded = cv2.imdecode(np.frombuffer(request.encoded.jpeg, np.uint8), cv2.IMREAD_COLOR_RGB)
    points = 72 / ENCODED_DPI
    size = PageSize(request.encoded.width_px * points, request.encoded.height_px * points)
    image = PageImage(request.number, size, np.asarray(decoded, np.uint8), dpi=ENCODED_DPI)
    return drawn_from(drawn_frame(DrawnPage(PageInfo(request.number, size), image, None))).passing


def _letters(reading: Reading) -> int:
    return sum(len(text_of(block)) for block in reading.blocks)


def _attempt(rung: Rung, outcome: str, started: float) -> Attempt:
    return Attempt(rung=rung.name, engine=rung.engine, outcome=outcome, seconds=round(time.monotonic() - started, 3))
