"""Broken engines: each does one thing wrong, the way a real one has done it."""

from collections.abc import AsyncIterator
from typing import Any

import anyio

from pageloom.engines.scripted import Script, ScriptedEngine
from pageloom.errors import EngineDead, EngineTimeout, EngineUnavailable
from pageloom.model.document import EngineName
from pageloom.model.reading import BlockEvent, Delta, PageRequest, Reading

GOOD = "<|ref|>text<|/ref|><|det|>[[10, 20, 900, 100]]<|/det|>\nThe gauges were read every morning at seven.\n"


def scripted(*answers: dict[str, Any], page: str = "*") -> ScriptedEngine:
    """An engine that gives these answers to the first, second ... attempt at a page."""
    return ScriptedEngine(Script.model_validate({"pages": {page: list(answers)}}))


def crashes(times: int = 1) -> ScriptedEngine:
    """Dies in the middle of an answer, then reads."""
    return scripted(*({"text": GOOD, "fails": "engine_dead"} for _ in range(times)), {"text": GOOD})


def stalls() -> ScriptedEngine:
    """Writes a few words and then nothing, for ever."""
    return scripted({"text": GOOD, "stalls": True})


def repeats_itself(then: str = GOOD) -> ScriptedEngine:
    """Runs into a loop; asked again, it reads."""
    return scripted({"text": GOOD + "and so on and so forth, " * 2000}, {"text": then})


def stops_at_budget(then: str = GOOD) -> ScriptedEngine:
    """Its first answer ends at the token limit, in the middle of a table."""
    cut = GOOD + "<|ref|>table<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\n<table><tr><td>a</td><td>b"
    return scripted({"text": cut, "finish": "length"}, {"text": then})


def bad_grounding(then: str = GOOD) -> ScriptedEngine:
    """Writes code where its boxes belong."""
    return scripted({"text": "<|ref|>text<|/ref|><|det|>__import__('os')<|/det|>\nwords"}, {"text": then})


def wrong_language() -> ScriptedEngine:
    """Answers in a script that nobody expects on this page."""
    return scripted(
        {"text": "这是一段完全没有人期待的文字内容，" * 3 + "它写满了整整一页，没有一个拉丁字母。" * 5}, {"text": GOOD}
    )


def empty() -> ScriptedEngine:
    """Ends at once, without a word."""
    return scripted({"text": ""}, {"text": GOOD})


class Odd:
    """Base of engines that are broken in their code."""

    def __init__(self) -> None:
        self.name = EngineName(name="odd")
        self.capacity = 1
        self.asked = 0


class KeyErrorInside(Odd):
    """A plug-in with a bug."""

    async def read(self, request: PageRequest) -> AsyncIterator[BlockEvent | Delta | Reading]:
        raise KeyError("choices")
        yield Delta("")


class Silent(Odd):
    """Ends an answer without a reading."""

    async def read(self, request: PageRequest) -> AsyncIterator[BlockEvent | Delta | Reading]:
        self.asked += 1
        yield Delta("words")


class Gone(Odd):
    """Is never there."""

    async def read(self, request: PageRequest) -> AsyncIterator[BlockEvent | Delta | Reading]:
        self.asked += 1
        await anyio.lowlevel.checkpoint()
        raise EngineUnavailable("no server is reachable")
        yield Delta("")


class AlwaysDead(Odd):
    """Dies on every page."""

    async def read(self, request: PageRequest) -> AsyncIterator[BlockEvent | Delta | Reading]:
        self.asked += 1
        raise EngineDead("died")
        yield Delta("")


class Slow(Odd):
    """Makes no progress."""

    async def read(self, request: PageRequest) -> AsyncIterator[BlockEvent | Delta | Reading]:
        self.asked += 1
        raise EngineTimeout("no token")
        yield Delta("")
