"""DeepSeek-OCR-2 on this machine's GPU: a managed `vllm serve` child, or vLLM inside this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from pageloom import plugins
from pageloom.contracts import Availability, Engine, Options, WorkerEngine
from pageloom.engines.vllm import found
from pageloom.errors import EngineUnavailable, MissingExtra, ModelsMissing
from pageloom.model.image import Target


class VllmOptions(Options):
    """Which model, and how the server is started."""

    model: str = Field(default="", description="folder of the checkpoint in the official layout, or its public name")
    command: str = Field(default="", description="the vllm program; empty = beside this Python, or on the path")
    in_process: bool = Field(default=False, description="vLLM inside this process instead of a server of its own")
    dialect: str = Field(default="deepseek_ocr2", description="how the model is spoken to")
    gpu_share: float = Field(default=0.9, gt=0, le=1, description="part of the GPU's memory that vLLM may take")
    gpus: int = Field(default=0, ge=0, description="servers, one a GPU; 0 = one for every GPU")
    tensor_parallel: int = Field(default=1, ge=1, description="GPUs that share one model")
    api_servers: int = Field(default=0, ge=0, description="processes that resize pictures; 0 = by cores")
    sequences: int = Field(default=0, ge=0, description="pages at once at one server; 0 = by memory")
    quantization: str | None = Field(default=None, description="e.g. fp8; None = as the checkpoint is")
    dtype: str = Field(default="bfloat16", description="number format of the weights")
    extra: tuple[str, ...] = Field(default=(), description="further arguments of vllm serve")
    start_s: float = Field(default=900.0, gt=0, description="seconds a start may take (compilation, CUDA graphs)")
    restarts: int = Field(default=3, ge=0, description="starts again after a death, in all")
    logs: Path | None = Field(default=None, description="folder of the server's logs; None = a temporary one")
    first_token_s: float = Field(default=120.0, gt=0, description="seconds to the first token")
    stall_s: float = Field(default=30.0, gt=0, description="seconds between tokens")
    logprobs: bool = Field(default=True, description="ask for token probabilities (block confidence)")
    canary: bool = Field(default=True, description="read a known page before the first one")
    canary_s: float = Field(default=120.0, gt=0, description="seconds for the known page")


class VllmFactory:
    """Opens the engine: starts the servers, looks at them, lets them read a known page."""

    name: ClassVar[str] = "vllm"
    runs: ClassVar[Literal["loop", "worker"]] = "loop"
    options: ClassVar[type[Options]] = VllmOptions
    target: ClassVar[Target] = Target(dpi=144.0)  # official run_dpsk_ocr2_pdf.py
    image_form: ClassVar[Literal["raw", "jpeg"]] = "jpeg"
    timeout_s: ClassVar[float] = 30.0

    def available(self, options: Options) -> Availability:
        """Whether vLLM, a GPU and the weights are here; starts nothing."""
        given = VllmOptions.model_validate(options.model_dump())
        if given.in_process:
            if find_spec("vllm") is None:
                return Availability(
                    works=False, reason="vLLM is not installed here", fix="pip install 'pageloom[vllm]'"
                )
        elif found.vllm_command(given.command) is None:
            return Availability(works=False, reason="no vllm program was found", fix="pip install 'pageloom[vllm]'")
        if not given.model:
            fix = "--set engine.options.model=FOLDER (official layout) or deepseek-ai/DeepSeek-OCR-2"
            return Availability(works=False, reason="no model is named", fix=fix)
        gpus = found.gpus()
        if not gpus and not given.command and not given.in_process:
            return Availability(
                works=False, reason="no NVIDIA GPU was found", fix="name a server: VLLM_ENGINE=http://..."
            )
        where = ", ".join(f"{gpu.name} ({gpu.memory_gib:.0f} GiB)" for gpu in gpus) or "this machine's processor"
        return Availability(works=True, reason=f"vLLM and {given.model} on {where}")

    @asynccontextmanager
    async def open(self, options: Options) -> AsyncIterator[Engine]:
        """Open the engine.

        Raises:
            MissingExtra: vLLM or aiohttp is not installed.
            ModelsMissing: no model is named.
            EngineUnavailable: the server does not start, or does not pass its probes.
        """
        given = VllmOptions.model_validate(options.model_dump())
        state = self.available(given)
        if not given.model:
            raise ModelsMissing(f"engine 'vllm': {state.reason}; {state.fix}")
        if not state.works:
            raise EngineUnavailable(f"engine 'vllm': {state.reason}; {state.fix}")
        dialect = plugins.load("dialects", given.dialect)
        if given.in_process:
            from pageloom.engines.vllm.inside import opened_inside

            async with opened_inside(given, dialect) as inside:
                yield inside
            return
        try:
            from pageloom.engines.vllm.managed import opened_managed
        except ModuleNotFoundError as error:
            raise MissingExtra("engine 'vllm' (aiohttp)", "vllm") from error
        async with opened_managed(given, dialect) as managed:
            yield managed

    def load(self, options: Options) -> WorkerEngine:  # noqa: ARG002 - the contract's shape
        """Not for this engine: it runs on the event loop."""
        raise EngineUnavailable("engine 'vllm' runs on the event loop: open it there")


FACTORY = VllmFactory()

__all__ = ["FACTORY", "VllmFactory", "VllmOptions"]
