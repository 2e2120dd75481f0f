"""A model on servers elsewhere: `vllm serve`, or anything that speaks OpenAI's chat completions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, SecretStr

from pageloom import plugins
from pageloom.contracts import Availability, Options, WorkerEngine
from pageloom.errors import EngineUnavailable, MissingExtra, SettingsError
from pageloom.model.image import Target

if TYPE_CHECKING:
    from pageloom.asking.served import ServedEngine


class OpenaiOptions(Options):
    """Where the servers are, and how they are asked."""

    urls: tuple[str, ...] = Field(default=(), description="base URLs, e.g. http://gpu:8000/v1; several = replicas")
    key: SecretStr | None = Field(default=None, description="API key")
    model: str = Field(default="", description="name under which the servers have the model; empty = the only one")
    dialect: str = Field(default="deepseek_ocr2", description="how the model is spoken to")
    in_flight: int = Field(default=64, ge=1, le=1024, description="most pages at one server at once")
    first_token_s: float = Field(default=60.0, gt=0, description="seconds to the first token")
    stall_s: float = Field(default=20.0, gt=0, description="seconds between tokens")
    logprobs: bool = Field(default=True, description="ask for token probabilities (block confidence)")
    canary: bool = Field(default=True, description="read a known page before the first one")
    canary_s: float = Field(default=60.0, gt=0, description="seconds for the known page")


class OpenaiFactory:
    """Opens the engine: servers are found, looked at, and read a known page."""

    name: ClassVar[str] = "openai"
    runs: ClassVar[Literal["loop", "worker"]] = "loop"
    options: ClassVar[type[Options]] = OpenaiOptions
    target: ClassVar[Target] = Target(dpi=144.0)  # official run_dpsk_ocr2_pdf.py
    image_form: ClassVar[Literal["raw", "jpeg"]] = "jpeg"
    timeout_s: ClassVar[float] = 20.0

    def available(self, options: Options) -> Availability:
        """Whether it could be opened; nothing is asked of the servers yet."""
        given = OpenaiOptions.model_validate(options.model_dump())
        if find_spec("aiohttp") is None:
            return Availability(works=False, reason="aiohttp is not installed", fix="pip install 'pageloom[openai]'")
        if not given.urls:
            fix = "--set engine.options.urls=http://HOST:8000/v1 or VLLM_ENGINE=http://HOST:8000/v1"
            return Availability(works=False, reason="no server is named", fix=fix)
        return Availability(works=True, reason=f"servers named: {', '.join(given.urls)}")

    @asynccontextmanager
    async def open(self, options: Options) -> "AsyncIterator[ServedEngine]":
        """Open the engine.

        Raises:
            MissingExtra: aiohttp is not installed.
            SettingsError: no server is named.
            EngineUnavailable: no server is reachable, or one does not pass its probes.
        """
        given = OpenaiOptions.model_validate(options.model_dump())
        if not given.urls:
            raise SettingsError("engine 'openai' needs engine.options.urls")
        try:
            from pageloom.asking.opening import opened
            from pageloom.asking.server import Limits
        except ModuleNotFoundError as error:
            raise MissingExtra("engine 'openai' (aiohttp)", "openai") from error
        limits = Limits(first_token_s=given.first_token_s, stall_s=given.stall_s)
        key = given.key.get_secret_value() if given.key else None
        dialect = plugins.load("dialects", given.dialect)
        async with opened("openai", list(given.urls), key, dialect, limits) as opening:
            engine = await opening.engine(given.model, given.in_flight, logprobs=given.logprobs)
            if given.canary:
                await opening.canary(engine, given.canary_s)
            yield engine

    def load(self, options: Options) -> WorkerEngine:  # noqa: ARG002 - the contract's shape
        """Not for this engine: it runs on the event loop."""
        raise EngineUnavailable("engine 'openai' runs on the event loop: open it there")


FACTORY = OpenaiFactory()
