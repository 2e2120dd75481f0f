"""Which engine reads, and why."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from pageloom.contracts import Availability
from pageloom.errors import EngineUnavailable, SettingsError
from pageloom.pipeline.choose import Choice, Settled, Told, candidates, first_opened, likely
from pageloom.settings import read_settings

YES, NO = (
    Availability(works=True, reason="it is here"),
    Availability(works=False, reason="it is not here", fix="get it"),
)


def names(told: Told) -> list[str]:
    return [choice.name for choice in candidates(told)]


def test_a_bare_machine_reads_on_its_processor() -> None:
    assert names(Told()) == ["onnx"]


def test_the_order_of_auto() -> None:
    told = Told(vllm="http://gpu:8000/v1", servers=("http://other:8000",), model="/models/ocr2")
    assert names(told) == ["openai", "openai", "vllm", "transformers", "onnx"]
    assert candidates(told)[0].options == {"urls": ("http://gpu:8000/v1",)}


@pytest.mark.parametrize("word", ["1", "true", "local", "LOCAL", "True"])
def test_words_ask_for_a_vllm_of_our_own(word: str) -> None:
    first = candidates(Told(vllm=word))[0]
    assert (first.name, first.options) == ("vllm", {"model": "deepseek-ai/DeepSeek-OCR-2"})


@pytest.mark.parametrize("word", ["yes", "gpu:8000", "ftp://gpu", "0", "http://"])
def test_anything_else_is_an_error(word: str) -> None:
    with pytest.raises(SettingsError, match="VLLM_ENGINE"):
        candidates(Told(vllm=word))


def test_a_named_engine_stands_alone_and_takes_the_address() -> None:
    (choice,) = candidates(Told(engine="openai", vllm="http://gpu:8000/v1", model="x"))
    assert choice.options == {"urls": ("http://gpu:8000/v1",)}


def test_vllm_engine_is_read_in_settings_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_ENGINE", "http://gpu:8000/v1")
    assert read_settings().engine.vllm == "http://gpu:8000/v1"
    monkeypatch.setenv("PAGELOOM_ENGINE", "native")
    assert read_settings().engine.name == "native"


def test_what_was_passed_over_is_told() -> None:
    told = Told(vllm="http://gpu:8000/v1")
    settled = likely(candidates(told), lambda choice: YES if choice.name == "onnx" else NO)
    assert settled.name == "onnx"
    assert "not openai: it is not here" in settled.reason


def test_no_engine_at_all_tells_every_reason() -> None:
    with pytest.raises(EngineUnavailable, match="onnx: it is not here; get it"):
        likely(candidates(Told()), lambda choice: NO)


def opened(failing: set[str], told: Told, closed: list[str]) -> Settled:
    @asynccontextmanager
    async def open_engine(choice: Choice) -> AsyncIterator[str]:
        if choice.name in failing:
            raise EngineUnavailable("does not start\nlog line")
        yield choice.name
        closed.append(choice.name)

    async def go() -> Settled:
        async with first_opened(candidates(told), lambda choice: YES, open_engine) as (settled, engine):
            assert engine == settled.name
            return settled

    return asyncio.run(go())


def test_a_failed_start_falls_to_the_next_and_is_told() -> None:
    closed: list[str] = []
    settled = opened({"vllm", "transformers"}, Told(vllm="1", model="m"), closed)
    assert settled.name == "onnx"
    assert "vllm: does not start" in settled.reason
    assert "log line" not in settled.reason
    assert closed == ["onnx"]


def test_a_named_engine_that_fails_is_not_replaced() -> None:
    with pytest.raises(EngineUnavailable):
        opened({"vllm"}, Told(engine="vllm", model="m"), [])


def test_a_fault_in_the_middle_is_no_reason_to_change_the_engine() -> None:
    tried: list[str] = []

    @asynccontextmanager
    async def open_engine(choice: Choice) -> AsyncIterator[str]:
        tried.append(choice.name)
        yield choice.name

    async def go() -> None:
        async with first_opened(candidates(Told(vllm="1", model="m")), lambda choice: YES, open_engine):
            raise EngineUnavailable("in the middle")

    with pytest.raises(EngineUnavailable, match="in the middle"):
        asyncio.run(go())
    assert tried == ["vllm"]
