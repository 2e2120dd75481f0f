"""Answers from a script."""

import asyncio
import time
from pathlib import Path

import pytest

from pageloom.engines.scripted import FACTORY, Script, ScriptedEngine, ScriptedOptions, read_script
from pageloom.errors import EngineTimeout, SettingsError
from pageloom.model.reading import BlockEvent, Delta, PageRequest, Reading

SCRIPT = """
[[pages.1]]
fails = "engine_timeout"
[[pages.1]]
text = "<|ref|>text<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\\nHello"
[[pages."*"]]
blocks = [{ kind = "paragraph", text = "Hi", box = [0.1, 0.1, 0.9, 0.2] }]
score = 0.9
"""


def told(engine: ScriptedEngine, number: int) -> list[object]:
    async def go() -> list[object]:
        return [item async for item in engine.read(PageRequest(number, None, None))]

    return asyncio.run(go())


def test_each_attempt_gets_its_answer(tmp_path: Path) -> None:
    file = tmp_path / "script.toml"
    file.write_text(SCRIPT)

    async def go() -> Reading:
        async with FACTORY.open(ScriptedOptions(file=file)) as engine:
            with pytest.raises(EngineTimeout):
                await anext(engine.read(PageRequest(1, None, None)))
            items = [item async for item in engine.read(PageRequest(1, None, None))]
            assert isinstance(items[-1], Reading)
            return items[-1]

    reading = asyncio.run(go())
    assert reading.blocks[0].regions
    assert "scripted" in reading.notes
    assert reading.engine.name == "scripted"


def test_blocks_are_streamed_before_the_reading() -> None:
    script = Script.model_validate({"pages": {"*": [{"blocks": [{"kind": "heading", "text": "A"}], "score": 0.5}]}})
    items = told(ScriptedEngine(script), 7)
    assert [type(item) for item in items] == [BlockEvent, Delta, Reading]
    reading = items[-1]
    assert isinstance(reading, Reading)
    assert (reading.score, reading.blocks[0].id) == (0.5, "p7-b1")


def test_time_passes_as_told() -> None:
    timing = {"first_token_s": 0.05, "tokens_per_s": 500}
    script = Script.model_validate({"timing": timing, "pages": {"*": [{"text": "word " * 50}]}})
    began = time.monotonic()
    told(ScriptedEngine(script), 1)
    assert time.monotonic() - began > 0.14


def test_a_page_that_the_script_lacks_is_empty() -> None:
    (reading,) = told(ScriptedEngine(Script()), 3)
    assert isinstance(reading, Reading)
    assert reading.blocks == ()


@pytest.mark.parametrize("text", ["[pages", "capacity = 0", "unknown = 1", "[[pages.1]]\ntext = 3"])
def test_a_bad_script_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(SettingsError):
        read_script(ScriptedOptions(file=file))


@pytest.mark.parametrize("answer", [{"fails": "no_such_code"}, {"blocks": [{"kind": "nothing"}]}])
def test_a_script_that_makes_no_sense_is_told_when_it_is_reached(answer: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        told(ScriptedEngine(Script.model_validate({"pages": {"*": [answer]}})), 1)


def test_without_a_script_it_is_not_available() -> None:
    assert not FACTORY.available(ScriptedOptions()).works
