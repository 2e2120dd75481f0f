"""Which failure is tried again, how often, and what changes."""

import asyncio
from dataclasses import dataclass, field

import pytest
from tests.engines import cousins
from tests.engines.cousins import GOOD, scripted

from pageloom.errors import EngineDead, EngineTimeout, EngineUnavailable
from pageloom.model.blocks import Table, text_of
from pageloom.model.document import EngineName, Route
from pageloom.model.reading import Ask, PageRequest, Reading
from pageloom.pipeline.askers import Asker, Events, LoopAsker, unheard
from pageloom.pipeline.ladder import Climbed, RetryBudget, climb, fault_of, ladder_for
from pageloom.pipeline.wire import PassingImage


@dataclass
class How:
    engine: str = "model"
    native: str | None = None
    attempts: int = 3
    retries: RetryBudget = field(default_factory=RetryBudget)


class Worker:
    """A worker engine that always reads the same."""

    def __init__(self, name: str) -> None:
        self.name = EngineName(name=name)
        self.asked = 0

    async def read(self, request: PageRequest, passing: object, events: object) -> Reading:
        self.asked += 1
        return Reading((), self.name, raw="by worker")


class DeadWorker(Worker):
    async def read(self, request: PageRequest, passing: object, events: object) -> Reading:
        self.asked += 1
        raise EngineTimeout("took too long")


OCR = Route(name="ocr")


def climbed(engine: object, how: How | None = None, way: Route = OCR, **more: Asker) -> Climbed:
    askers = {"model": LoopAsker(engine), **more}  # type: ignore[arg-type]
    request = PageRequest(1, None, None, languages=("en",), attempt="job/1")
    return asyncio.run(climb(way, request, None, askers, how or How(), unheard))


def told(result: Climbed) -> list[tuple[str, str]]:
    return [(attempt.rung, attempt.outcome) for attempt in result.attempts]


def words(result: Climbed) -> str:
    return " ".join(text_of(block) for block in result.reading.blocks)


def test_a_good_reading_stands_at_once() -> None:
    result = climbed(scripted({"text": GOOD}))
    assert told(result) == [("grounded", "stop")]


@pytest.mark.parametrize(
    ("engine", "first", "second"),
    [
        (cousins.repeats_itself, "loop", "other_decoding"),
        (cousins.stops_at_budget, "length", "plain"),
        (cousins.bad_grounding, "bad_grounding", "other_decoding"),
        (cousins.wrong_language, "language_unexpected", "plain"),
        (cousins.empty, "empty_answer", "other_decoding"),
    ],
)
def test_what_went_wrong_decides_what_changes(engine: object, first: str, second: str) -> None:
    result = climbed(engine())  # type: ignore[operator]
    assert told(result) == [("grounded", first), (second, "stop")]
    assert "every morning" in words(result)


def test_a_dead_engine_s_page_is_read_by_its_successor() -> None:
    result = climbed(cousins.crashes())
    assert told(result) == [("grounded", "engine_dead"), ("grounded", "stop")]


def test_every_try_has_its_own_attempt_id() -> None:
    seen: list[str] = []

    class Noting(LoopAsker):
        async def read(self, request: PageRequest, passing: PassingImage | None, events: Events) -> Reading:
            seen.append(request.attempt)
            return await super().read(request, passing, events)

    request = PageRequest(1, None, None, attempt="job/1")
    asyncio.run(climb(OCR, request, None, {"model": Noting(cousins.crashes(2))}, How(), unheard))  # type: ignore[arg-type]
    assert seen == ["job/1.1", "job/1.2", "job/1.3"]


def test_a_page_that_kills_every_engine_is_given_up() -> None:
    engine = cousins.AlwaysDead()
    with pytest.raises(EngineDead):
        climbed(engine, How(attempts=1))
    assert engine.asked == 3


def test_the_cpu_engine_reads_what_the_model_cannot() -> None:
    result = climbed(cousins.Gone(), onnx=Worker("onnx"))
    assert told(result)[-1] == ("cpu", "stop")
    assert len(result.attempts) <= 3
    assert result.reading.raw == "by worker"


def test_a_sound_text_layer_comes_before_the_cpu_engine() -> None:
    steps = ladder_for(
        Route(name="both"), How(), Ask(), {"model": LoopAsker(cousins.empty()), "native": Worker("native")}
    )  # type: ignore[dict-item]
    assert [rung.name for rung in steps] == ["grounded", "other_decoding", "native"]


def test_at_most_three_tries() -> None:
    loops = {"text": GOOD + "and so on and so forth, " * 2000}
    other = {"text": GOOD + "round and round it goes, " * 2000}
    result = climbed(scripted(loops, other, loops, other))
    assert [rung for rung, _ in told(result)] == ["grounded", "other_decoding", "plain"]
    assert result.reading.finish == "loop"
    assert "every morning" in words(result)


def test_two_ways_into_the_same_repetition_are_print() -> None:
    loops = {"text": GOOD + "and so on and so forth, " * 2000}
    result = climbed(scripted(loops, loops, {"text": "never asked"}))
    assert [outcome for _, outcome in told(result)] == ["loop", "loop"]


def test_a_cut_table_is_closed_and_kept_when_nothing_better_comes() -> None:
    cut = GOOD + "<|ref|>table<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\n<table><tr><td>a</td><td>b"
    result = climbed(scripted({"text": cut, "finish": "length"}))
    table = next(block for block in result.reading.blocks if isinstance(block, Table))
    assert [cell.text for cell in table.cells] == ["a", "b"]
    assert fault_of(result.reading) == "length"


def test_without_any_reading_the_last_fault_is_raised() -> None:
    with pytest.raises(EngineUnavailable):
        climbed(cousins.Gone())
    with pytest.raises(EngineDead):
        climbed(cousins.Silent(), How(attempts=1))


def test_a_bug_in_a_plugin_is_not_swallowed_here() -> None:
    with pytest.raises(KeyError):
        climbed(cousins.KeyErrorInside())


def test_a_worker_that_took_too_long_is_not_asked_again() -> None:
    worker = DeadWorker("onnx")
    with pytest.raises(EngineTimeout):
        climbed(cousins.Gone(), How(engine="onnx"), onnx=worker)
    assert worker.asked == 1


def test_questions_are_not_turned_into_other_questions() -> None:
    steps = ladder_for(
        OCR, How(), Ask("locate", "gauge"), {"model": LoopAsker(cousins.empty()), "onnx": Worker("onnx")}
    )  # type: ignore[dict-item]
    assert {rung.name for rung in steps} == {"locate", "other_decoding", "one_view"}


def test_one_page_in_ten_is_tried_again() -> None:
    """Of 200 pages that all fail, about 20 retries beyond the first few are made: a sick engine is not stormed."""
    how = How(retries=RetryBudget(saved=0.0))
    engine = cousins.Gone()

    async def go() -> None:
        for number in range(1, 201):
            try:
                await climb(OCR, PageRequest(number, None, None), None, {"model": LoopAsker(engine)}, how, unheard)  # type: ignore[arg-type]
            except EngineUnavailable:
                continue

    asyncio.run(go())
    assert 200 <= engine.asked <= 221


def test_a_spent_budget_goes_straight_to_the_other_engine() -> None:
    result = climbed(cousins.Gone(), How(retries=RetryBudget(share=0.0, saved=0.0)), onnx=Worker("onnx"))
    assert [rung for rung, _ in told(result)] == ["grounded", "cpu"]
