"""DeepSeek-OCR-2 through Hugging Face transformers: no server, on a GPU or a processor, from the official files."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import ClassVar, Literal

from pydantic import Field

from pageloom import plugins
from pageloom.contracts import Availability, Engine, Options, WorkerEngine
from pageloom.errors import EngineUnavailable, MissingExtra, ModelsMissing
from pageloom.model.image import Target


class TransformersOptions(Options):
    """Which model, and on what it runs."""

    model: str = Field(default="", description="folder of the checkpoint in the official layout")
    device: str = Field(default="auto", description="cuda, cpu, or auto")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field(default="auto", description="number format")
    batch: int = Field(default=0, ge=0, le=256, description="pages read together; 0 = 8 on a GPU, 1 on a processor")
    dialect: Literal["deepseek_ocr2"] = Field(default="deepseek_ocr2", description="how the model is spoken to")
    wait_s: float = Field(default=0.05, ge=0, description="seconds in which pages gather for a batch")
    canary: bool = Field(default=True, description="read a known page before the first one")
    canary_s: float = Field(default=600.0, gt=0, description="seconds for the known page")


class TransformersFactory:
    """Opens the engine: loads the model, checks its tokens, lets it read a known page."""

    name: ClassVar[str] = "transformers"
    runs: ClassVar[Literal["loop", "worker"]] = "loop"
    options: ClassVar[type[Options]] = TransformersOptions
    target: ClassVar[Target] = Target(dpi=144.0)  # official run_dpsk_ocr2_pdf.py
    image_form: ClassVar[Literal["raw", "jpeg"]] = "jpeg"
    timeout_s: ClassVar[float] = 600.0

    def available(self, options: Options) -> Availability:
        """Whether the libraries and the weights are here; loads neither."""
        given = TransformersOptions.model_validate(options.model_dump())
        for library in ("torch", "transformers"):
            if find_spec(library) is None:
                fix = "pip install 'pageloom[transformers]'"
                return Availability(works=False, reason=f"{library} is not installed", fix=fix)
        if not given.model:
            return Availability(works=False, reason="no model is named", fix="--set engine.options.model=FOLDER")
        return Availability(works=True, reason=f"transformers and {given.model}")

    @asynccontextmanager
    async def open(self, options: Options) -> AsyncIterator[Engine]:
        """Open the engine.

        Raises:
            MissingExtra: torch or transformers is not installed.
            ModelsMissing: no model is named, or its files are not all there.
            EngineUnavailable: the files are another model's, or it cannot read the known page.
        """
        given = TransformersOptions.model_validate(options.model_dump())
        if not given.model:
            raise ModelsMissing("engine 'transformers' needs engine.options.model=FOLDER (official layout)")
        try:
            from pageloom.engines.transformers.engine import opened
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("pageloom"):
                raise
            raise MissingExtra(f"engine 'transformers' ({error.name})", "transformers") from error
        async with opened(given, plugins.load("dialects", given.dialect)) as engine:
            yield engine

    def load(self, options: Options) -> WorkerEngine:  # noqa: ARG002 - the contract's shape
        """Not for this engine: its batches live in this process."""
        raise EngineUnavailable("engine 'transformers' runs on the event loop: open it there")


FACTORY = TransformersFactory()
