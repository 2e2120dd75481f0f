r"""Answers from a script: for tests, demos and the doctor's checks. It reads no page and says so in its name and notes.

The script is TOML or JSON::

    dialect = "deepseek_ocr2"        # how `text` answers are read
    capacity = 8
    [timing]
    first_token_s = 0.05
    tokens_per_s = 400               # 0 = at once
    half = 24                        # pages in flight at which one page is half as fast; 0 = never slower
    [[pages.1]]                      # first attempt at page 1
    fails = "engine_unavailable"     # an error code of `pageloom.errors`
    [[pages.1]]                      # second and later attempts
    text = "<|ref|>text<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\nHello"
    [[pages."*"]]                    # every other page
    blocks = [{ kind = "paragraph", text = "Hello", box = [0.1, 0.1, 0.9, 0.2] }]
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal

import anyio
import anyio.lowlevel
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pageloom import errors, plugins
from pageloom.asking.answer import Answer, Usage
from pageloom.contracts import Availability, Dialect, Options, WorkerEngine
from pageloom.errors import PageloomError, SettingsError
from pageloom.model.blocks import Block, text_of
from pageloom.model.document import EngineName
from pageloom.model.geometry import Box, Region
from pageloom.model.identify import block_id
from pageloom.model.image import Target
from pageloom.model.reading import BlockEvent, Delta, Finish, PageRequest, Reading

VERSION = "1"
_PIECE = re.compile(r"\s?[^\W_]{1,8}|\s+|.", re.DOTALL)
_BLOCKS: TypeAdapter[list[Block]] = TypeAdapter(list[Block])


class Timing(BaseModel):
    """How fast the script is told, in seconds and tokens a second."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    first_token_s: float = Field(default=0.0, ge=0)
    tokens_per_s: float = Field(default=0.0, ge=0)
    half: float = Field(default=0.0, ge=0)
    step_tokens: int = Field(default=12, ge=1)


class ScriptedAnswer(BaseModel):
    """What one attempt at one page gets: raw model text, or blocks, and perhaps a fault after them.

    Attributes:
        blocks: as in the document schema, with `box` for `regions`; ids and orders may be left out.
        fails: code of the error raised; after the words, if there are any.
        stalls: never ends after its words.
        finish: how the answer says it ended.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = ""
    blocks: list[dict[str, Any]] = Field(default_factory=list)
    fails: str = ""
    stalls: bool = False
    finish: Finish = "stop"
    notes: tuple[str, ...] = ()
    score: float | None = Field(default=None, ge=0, le=1)


class Script(BaseModel):
    """A whole script; keys of `pages` are numbers or "*", values the answers to the first, second ... attempt."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "scripted"
    dialect: str = "deepseek_ocr2"
    capacity: int = Field(default=8, ge=1)
    timing: Timing = Timing()
    pages: dict[str, list[ScriptedAnswer]] = Field(default_factory=dict)


class ScriptedOptions(Options):
    """Where the script is: a file, or the script itself."""

    file: Path | None = None
    script: Script | None = None


def read_script(options: ScriptedOptions) -> Script:
    """The script that the options name.

    Raises:
        SettingsError: no script, an unreadable file, or one that is no script.
    """
    if options.script is not None:
        return options.script
    if options.file is None:
        raise SettingsError("engine 'scripted' needs a script: --set engine.options.file=SCRIPT.toml")
    try:
        text = options.file.read_text(encoding="utf-8")
        told = json.loads(text) if options.file.suffix == ".json" else tomllib.loads(text)
        return Script.model_validate(told)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{options.file} is no script for the engine 'scripted': {error}") from error


class ScriptedEngine:
    """Tells a script, page by page, attempt by attempt."""

    def __init__(self, script: Script) -> None:
        self.name = EngineName(name="scripted", version=VERSION, model=script.name)
        self.capacity = script.capacity
        self.in_flight = 0
        self._script = script
        self._dialect: Dialect = plugins.load("dialects", script.dialect)
        self._asked: Counter[str] = Counter()

    async def read(self, request: PageRequest) -> AsyncIterator[BlockEvent | Delta | Reading]:
        """Tell the answer for this page and attempt; a page that the script lacks is empty."""
        answer = self._next(request.number)
        self.in_flight += 1
        try:
            async with aclosing(self._told(request, answer)) as told:
                async for event in told:
                    yield event
        finally:
            self.in_flight -= 1

    def _next(self, number: int) -> ScriptedAnswer:
        key = str(number)
        answers = self._script.pages.get(key) or self._script.pages.get("*") or [ScriptedAnswer()]
        self._asked[key] += 1
        return answers[min(self._asked[key], len(answers)) - 1]

    async def _told(self, request: PageRequest, told: ScriptedAnswer) -> AsyncGenerator[BlockEvent | Delta | Reading]:
        await anyio.sleep(self._script.timing.first_token_s)
        answer = Answer(request, self._dialect, self.name)
        tokens = 0
        for count, piece in _pieces(told.text, self._script.timing.step_tokens):
            await self._write(count)
            tokens += count
            for event in answer.take(piece):
                yield event
            if answer.loop:
                break
        blocks = _blocks(told.blocks, request.number)
        for block in blocks:
            await self._write(len(text_of(block)) // 4 + 1)
            yield BlockEvent(block)
            yield Delta(text_of(block) + "\n", block.regions[0].box.y1 if block.regions else 0.0)
        if told.stalls:
            await anyio.sleep_forever()
        if told.fails:
            raise _error(told.fails, request.number)
        yield _reading(answer, told, blocks, tokens)

    async def _write(self, tokens: int) -> None:
        """Wait as long as a model would write these tokens, with this many pages in flight."""
        timing = self._script.timing
        if timing.tokens_per_s:
            slower = 1 + self.in_flight / timing.half if timing.half else 1.0
            await anyio.sleep(tokens * slower / timing.tokens_per_s)
        else:
            await anyio.lowlevel.checkpoint()


def _reading(answer: Answer, told: ScriptedAnswer, blocks: tuple[Block, ...], tokens: int) -> Reading:
    notes = ("scripted", *told.notes)
    reading = answer.reading(told.finish, Usage(0, tokens), notes)
    if not blocks:
        return reading if told.score is None else _rescored(reading, told.score)
    said = tuple(note for note in reading.notes if note != "empty_answer")
    raw = "\n\n".join(text_of(block) for block in blocks)
    return Reading(
        blocks, reading.engine, raw, reading.finish, 0, tokens, reading.seconds, score=told.score, notes=said
    )


def _rescored(reading: Reading, score: float) -> Reading:
    return Reading(
        reading.blocks,
        reading.engine,
        reading.raw,
        reading.finish,
        output_tokens=reading.output_tokens,
        seconds=reading.seconds,
        score=score,
        notes=reading.notes,
    )


def _pieces(text: str, step: int) -> Iterator[tuple[int, str]]:
    """Tokens and text of each step."""
    tokens = _PIECE.findall(text)
    for at in range(0, len(tokens), step):
        yield len(tokens[at : at + step]), "".join(tokens[at : at + step])


def _blocks(told: list[dict[str, Any]], page: int) -> tuple[Block, ...]:
    filled = []
    for order, fields in enumerate(told):
        block = {"id": block_id(page, order), "order": order, "regions": (), **fields}
        if "box" in block:
            block["regions"] = (Region(page, Box(*block.pop("box"))),)
        filled.append(block)
    try:
        return tuple(_BLOCKS.validate_python(filled))
    except (ValidationError, TypeError) as error:
        raise SettingsError(f"the script's blocks for page {page} are no blocks: {error}") from error


def _error(code: str, page: int) -> PageloomError:
    """The error of our tree with this code; an unknown code is a bug in the script."""
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, PageloomError) and kind.code == code:
            return kind.__new__(kind, f"page {page}: as the script says")
    raise SettingsError(f"the script raises {code!r}, which is no error code")


class ScriptedFactory:
    """Opens the scripted engine."""

    name: ClassVar[str] = "scripted"
    runs: ClassVar[Literal["loop", "worker"]] = "loop"
    options: ClassVar[type[Options]] = ScriptedOptions
    target: ClassVar[Target] = Target(dpi=144.0)
    image_form: ClassVar[Literal["raw", "jpeg"]] = "jpeg"
    timeout_s: ClassVar[float] = 8.0

    def available(self, options: Options) -> Availability:
        """It works wherever a script is given; it is never chosen by itself."""
        try:
            read_script(options if isinstance(options, ScriptedOptions) else ScriptedOptions())
        except SettingsError as error:
            return Availability(works=False, reason=str(error), fix="give a script")
        return Availability(works=True, reason="answers come from a script, not from the page")

    @asynccontextmanager
    async def open(self, options: Options) -> AsyncIterator[ScriptedEngine]:
        """Open the script."""
        yield ScriptedEngine(read_script(options if isinstance(options, ScriptedOptions) else ScriptedOptions()))

    def load(self, options: Options) -> WorkerEngine:  # noqa: ARG002 - the contract's shape
        """A script is told on the event loop, never in a child process."""
        raise SettingsError("engine 'scripted' runs on the event loop")


FACTORY = ScriptedFactory()
