"""The embedded CPU engine: PP-OCRv6 on ONNX Runtime, with layout and tables, on any processor."""

from contextlib import AbstractAsyncContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from pageloom import weights
from pageloom.contracts import Availability, Engine, Options, WorkerEngine
from pageloom.errors import EngineUnavailable, MissingExtra
from pageloom.model.image import Target


class OnnxOptions(Options):
    """Choices of the embedded engine."""

    models: Path | None = Field(default=None, description="folder of the model files; empty = the user's data folder")
    languages: tuple[str, ...] = Field(default=(), description="languages to expect; empty = find out")
    layout: Literal["model", "rules"] = Field(default="model", description="regions by the layout model or by rules")
    threads: int = Field(default=1, ge=1, le=16, description="threads of one process; 2 shortens a single page")


class OnnxFactory:
    """Opens the embedded engine in a worker."""

    name: ClassVar[str] = "onnx"
    runs: ClassVar[Literal["loop", "worker"]] = "worker"
    image_form: ClassVar[Literal["raw", "jpeg"]] = "raw"
    options: ClassVar[type[Options]] = OnnxOptions
    target: ClassVar[Target] = Target(dpi=200.0, longest_px=2400, shortest_px=1000)
    timeout_s: ClassVar[float] = 300.0

    def available(self, options: Options) -> Availability:
        """Whether the runtime is installed and all model files are there; loads neither."""
        chosen = OnnxOptions.model_validate(options.model_dump())
        if find_spec("onnxruntime") is None:
            return Availability(works=False, reason="onnxruntime is not installed", fix="pip install onnxruntime")
        absent = weights.missing(chosen.models)
        if absent:
            names = ", ".join(model.filename for model in absent)
            return Availability(works=False, reason=f"model files missing: {names}", fix=weights.FETCH_COMMAND)
        return Availability(works=True, reason="models are in place")

    def open(self, options: Options) -> AbstractAsyncContextManager[Engine]:  # noqa: ARG002 - the contract's
        """Not for this engine.

        Raises:
            EngineUnavailable: always; it runs in workers.
        """
        raise EngineUnavailable("engine 'onnx' runs in worker processes: load it there")

    def load(self, options: Options) -> WorkerEngine:
        """Load the engine, inside a child process.

        Raises:
            ModelsMissing: the model files are not on this machine.
            MissingExtra: onnxruntime or OpenCV is not installed.
        """
        chosen = OnnxOptions.model_validate(options.model_dump())
        try:
            from pageloom.engines.onnx.engine import OnnxEngine
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("pageloom"):
                raise
            raise MissingExtra(f"engine 'onnx' ({error.name})", "onnx") from error
        return OnnxEngine(chosen.models, chosen.layout, chosen.languages, chosen.threads)


FACTORY = OnnxFactory()
