"""Engine `native`: the PDF's own text layer, put in order by the layout room."""

import time
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pageloom import weights
from pageloom.contracts import Availability, Engine, Options, WorkerEngine
from pageloom.errors import EngineUnavailable, UnreadablePage
from pageloom.model.document import EngineName
from pageloom.model.identify import numbered
from pageloom.model.image import PageImage, PageText, Target
from pageloom.model.reading import PageRequest, Reading

if TYPE_CHECKING:  # the layout room loads OpenCV, which the process that only names this engine does not need
    from pageloom.layout.compose import LayoutTools
    from pageloom.layout.page import LayoutPage


class NativeOptions(Options):
    """Options of the native engine.

    Attributes:
        layout: "model" finds regions in the drawn page where its pixels are given, "rules" needs no pixels.
        models_folder: where model files are; None = the user's data folder.
    """

    layout: Literal["model", "rules"] = "rules"
    models_folder: Path | None = None


class NativeEngine:
    """Reads the text layer; no pixels are needed unless the layout model is asked for."""

    def __init__(self, tools: "LayoutTools") -> None:
        self.name = EngineName(name="native", version=version("pageloom"))
        self.needs_pixels = tools.mode == "model"
        self._tools = tools

    def read(self, request: PageRequest) -> Reading:
        """Read one page from its text layer.

        Raises:
            UnreadablePage: the page has no text layer at all (an image).
        """
        if request.text is None:
            raise UnreadablePage(f"page {request.number}: an image has no text layer; use engine onnx")
        from pageloom.layout.compose import compose

        start = time.perf_counter()
        page = layout_page(request.number, request.text, request.image, request.languages)
        blocks = compose(page, self._tools)
        return Reading(
            blocks=numbered(request.number, blocks),
            engine=self.name,
            raw="\n".join(line.text for line in page.lines),
            seconds=time.perf_counter() - start,
            score=None,
            notes=("invisible_text_left_out",) if len(page.lines) < len(request.text.lines) else (),
        )


class NativeFactory:
    """Opens the native engine inside a child process."""

    name: ClassVar[str] = "native"
    runs: ClassVar[Literal["loop", "worker"]] = "worker"
    image_form: ClassVar[Literal["raw", "jpeg"]] = "raw"
    options: ClassVar[type[Options]] = NativeOptions
    target: ClassVar[Target] = Target(dpi=100.0, shortest_px=800)
    timeout_s: ClassVar[float] = 120.0  # a dense page takes 0.2 s; a machine under load some 20 times that

    def available(self, options: Options) -> Availability:
        """Always, by rules; with the layout model when its file is there."""
        if _native(options).layout == "rules":
            return Availability(works=True, reason="reads the PDF's own text layer; layout by rules")
        if "layout_cdla" in {model.name for model in weights.missing(_native(options).models_folder)}:
            return Availability(works=False, reason="the layout model is missing", fix=weights.FETCH_COMMAND)
        return Availability(works=True, reason="reads the PDF's own text layer; layout by model")

    def open(self, options: Options) -> AbstractAsyncContextManager[Engine]:
        """Not a loop engine.

        Raises:
            EngineUnavailable: always.
        """
        raise EngineUnavailable(f"engine native runs in child processes only ({type(options).__name__})")

    def load(self, options: Options) -> WorkerEngine:
        """Load the engine.

        Raises:
            ModelsMissing: layout "model" without its file.
        """
        from pageloom.layout.compose import LayoutTools

        chosen = _native(options)
        return NativeEngine(LayoutTools.load(chosen.models_folder, chosen.layout))


def layout_page(
    number: int, text: PageText, image: PageImage | None = None, languages: tuple[str, ...] = ()
) -> "LayoutPage":
    """What the layout room is given of a text layer: the visible lines."""
    from pageloom.layout.page import LayoutPage

    size = image.size if image is not None else text.size
    return LayoutPage(
        number=number,
        size=size,
        lines=tuple(line for line in text.lines if line.seen),
        image=image,
        rulings=text.rulings,
        pictures=text.images,
        basis="text-layer",
        languages=languages,
    )


def _native(options: Options) -> NativeOptions:
    return options if isinstance(options, NativeOptions) else NativeOptions()


FACTORY = NativeFactory()
