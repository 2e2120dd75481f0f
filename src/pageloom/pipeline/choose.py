"""Which engine reads, and why: the order in which engines are tried when none, or only a direction, was named.

Pure: what was set comes in as words, whether an engine can work here as a function. The order holds at the start only;
a document that has been begun is finished by the engine that began it, or its pages say otherwise.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pageloom.contracts import Availability
from pageloom.errors import EngineError, EngineUnavailable, MissingExtra, SettingsError, UnknownPlugin

AUTO = "auto"
REMOTE, LOCAL, HUGGING_FACE, CPU_ENGINE = "openai", "vllm", "transformers", "onnx"
LOCAL_WORDS = frozenset({"1", "true", "local"})
DEFAULT_MODEL = "deepseek-ai/DeepSeek-OCR-2"

Opened = TypeVar("Opened")


@dataclass(frozen=True, slots=True)
class Told:
    """What settings and environment say.

    Attributes:
        engine: setting `engine.name` (PAGELOOM_ENGINE).
        vllm: VLLM_ENGINE: a URL, or one of `1`, `true`, `local`; empty = not set.
        servers: base URLs of model servers, setting `engine.servers`.
        model: folder of the checkpoint, setting `engine.model`; empty = not here.
    """

    engine: str = AUTO
    vllm: str = ""
    servers: tuple[str, ...] = ()
    model: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """An engine that may be opened, with the options that the choice implies, and what speaks for it."""

    name: str
    why: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settled(Choice):
    """The engine that was opened; `passed` tells of each better one why it was not."""

    passed: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """One line for people, JSON and status."""
        return self.why if not self.passed else f"{self.why} (not {'; not '.join(self.passed)})"


def is_url(word: str) -> bool:
    """Whether a word is the address of a server."""
    parts = urlsplit(word)
    return parts.scheme in {"http", "https"} and bool(parts.netloc)


def candidates(told: Told) -> tuple[Choice, ...]:
    """Engines in the order in which they are tried; a named engine stands alone.

    Raises:
        SettingsError: VLLM_ENGINE is neither a URL nor one of its words.
    """
    word = told.vllm.strip()
    if word and not is_url(word) and word.lower() not in LOCAL_WORDS:
        raise SettingsError(f"VLLM_ENGINE is {word!r}: it must be a URL (http://HOST:PORT/v1), or 1, true or local")
    if told.engine != AUTO:
        return (Choice(told.engine, "chosen by setting engine.name", _implied(told, told.engine, word)),)
    local = _local(told, "VLLM_ENGINE asks for a vLLM of our own") if word and not is_url(word) else None
    remote = [Choice(REMOTE, f"VLLM_ENGINE names {word}", {"urls": (word,)})] if is_url(word) else []
    if told.servers:
        named = Choice(REMOTE, f"server {', '.join(told.servers)} is set", {"urls": told.servers})
        remote.append(named)
    chain = [*([local] if local else []), *remote]
    if local is None and told.model:
        chain.append(_local(told, "vLLM, a GPU and the model are here"))
    if told.model:
        chain.append(Choice(HUGGING_FACE, "transformers and the model are here", {"model": told.model}))
    return (*chain, Choice(CPU_ENGINE, "the embedded engine runs on any processor"))


def _local(told: Told, why: str) -> Choice:
    return Choice(LOCAL, why, {"model": told.model or DEFAULT_MODEL})


def _implied(told: Told, engine: str, word: str) -> dict[str, Any]:
    """Options that settings imply for a named engine."""
    if engine == REMOTE:
        urls = (word,) if is_url(word) else told.servers
        return {"urls": urls} if urls else {}
    return {"model": told.model} if engine in {LOCAL, HUGGING_FACE} and told.model else {}


def likely(choices: Sequence[Choice], available: Callable[[Choice], Availability]) -> Settled:
    """The first engine that says it can work here, without opening any.

    Raises:
        EngineUnavailable: none can; the message has every reason.
    """
    passed: list[str] = []
    for choice in choices:
        found = available(choice)
        if found.works:
            return Settled(choice.name, f"{choice.why}: {found.reason}", choice.options, tuple(passed))
        passed.append(_passed(choice, found.reason + (f"; {found.fix}" if found.fix else "")))
    raise EngineUnavailable(f"no engine can work here: {'; '.join(passed)}")


@asynccontextmanager
async def first_opened(
    choices: Sequence[Choice],
    available: Callable[[Choice], Availability],
    open_engine: Callable[[Choice], AbstractAsyncContextManager[Opened]],
) -> AsyncIterator[tuple[Settled, Opened]]:
    """Open the first engine that can be opened; one that fails at its start is passed over and told.

    Raises:
        PageloomError: the last one failed too (its own error; a named engine has no other).
    """
    passed: list[str] = []
    for place, choice in enumerate(choices):
        found = available(choice)
        last = place == len(choices) - 1
        if not found.works and not last:
            passed.append(_passed(choice, found.reason))
            continue
        opening = open_engine(choice)
        try:
            opened = await opening.__aenter__()
        except (EngineError, MissingExtra, UnknownPlugin) as error:
            if last:
                raise
            passed.append(_passed(choice, str(error)))
            continue
        settled = Settled(choice.name, f"{choice.why}: {found.reason}", choice.options, tuple(passed))
        async with _closing(opening):
            yield settled, opened
        return


@asynccontextmanager
async def _closing(opening: AbstractAsyncContextManager[Any]) -> AsyncIterator[None]:
    """The rest of a `with` whose beginning is past."""
    try:
        yield
    except BaseException as error:
        if not await opening.__aexit__(type(error), error, error.__traceback__):
            raise
    else:
        await opening.__aexit__(None, None, None)


def _passed(choice: Choice, reason: str) -> str:
    return f"{choice.name}: {reason.splitlines()[0]}"
