"""One answer as it comes: words to blocks, loops cut, the Reading at the end. The same for every engine."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pageloom.asking.languages import unexpected_script
from pageloom.contracts import Dialect, ImageSize, Parsed, Reader
from pageloom.model.blocks import text_of
from pageloom.model.document import EngineName
from pageloom.model.geometry import Placement
from pageloom.model.placing import placed
from pageloom.model.reading import BlockEvent, Delta, Finish, PageRequest, Reading
from pageloom.trust.loops import Loop, LoopDetector

NO_IMAGE = ImageSize(1191, 1684)
"""Size taken for an engine that needs no pixels (A4 at 144 dpi)."""

FINISHES: dict[str, Finish] = {"stop": "stop", "length": "length", "repetition": "loop", "abort": "cancelled"}
"""How vLLM and OpenAI-style servers name the end of an answer; anything else is taken for a stop."""


def size_of(request: PageRequest) -> ImageSize:
    """Pixels of the image that a request carries."""
    if request.encoded is not None:
        return ImageSize(request.encoded.width_px, request.encoded.height_px)
    if request.image is not None:
        height, width = request.image.rgb.shape[:2]
        return ImageSize(int(width), int(height))
    return NO_IMAGE


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens an answer took, as the engine counted them (0 where it does not tell)."""

    prompt_tokens: int = 0
    output_tokens: int = 0


class Answer:
    """Takes a model's words about one page and makes blocks of them.

    Attributes:
        loop: the repetition the text has run into, or None; the engine should stop writing then.
    """

    def __init__(self, request: PageRequest, dialect: Dialect, engine: EngineName) -> None:
        self.loop: Loop | None = None
        self._request, self._dialect, self._engine = request, dialect, engine
        self._reader = self._new_reader()
        self._placement = request.image.placement if request.image is not None else Placement()
        self._detector = LoopDetector()
        self._text: list[str] = []
        self._logprobs: list[float] = []
        self._began = time.monotonic()

    def take(self, text: str, logprobs: Sequence[float] = ()) -> Iterator[BlockEvent | Delta]:
        """The next words, and the logarithms of their tokens' probabilities; words after a loop are left alone."""
        if self.loop is not None or not text:
            return
        self._text.append(text)
        self._logprobs.extend(logprobs)
        for event in self._reader.feed(text, (), logprobs):
            yield self._on_page(event) if isinstance(event, BlockEvent) else event
        self.loop = self._detector.feed(text)

    def reading(self, finish: str, usage: Usage | None = None, notes: Sequence[str] = ()) -> Reading:
        """The page as read. A loop is cut to one period; nothing of the words before it is lost."""
        raw = "".join(self._text)
        ended: Finish = "loop" if self.loop else FINISHES.get(finish, "stop")
        parsed = self._parsed(raw, ended)
        raw = self.loop.kept(raw) if self.loop else raw
        blocks = tuple(self._on_page(event).block for event in parsed.events)
        usage = usage or Usage()
        return Reading(
            blocks=blocks,
            engine=self._engine,
            raw=raw,
            finish=ended,
            prompt_tokens=usage.prompt_tokens,
            output_tokens=usage.output_tokens,
            seconds=round(time.monotonic() - self._began, 3),
            score=_mean_probability(self._logprobs),
            notes=tuple(dict.fromkeys((*notes, *parsed.notes, *self._remarks(parsed, ended)))),
        )

    def _parsed(self, raw: str, ended: Finish) -> Parsed:
        if self.loop is None:
            return self._reader.close(ended)
        reader = self._new_reader()
        for _ in reader.feed(self.loop.kept(raw)):
            pass
        return reader.close(ended)

    def _remarks(self, parsed: Parsed, ended: Finish) -> Iterator[str]:
        if ended == "loop":
            yield "loop_cut"
        if self._detector.stale:
            yield "nothing_new"
        words = "\n".join(text_of(event.block) for event in parsed.events)
        if not parsed.events:
            yield "empty_answer"
        elif unexpected_script(words, self._request.languages):
            yield "language_unexpected"

    def _on_page(self, event: BlockEvent) -> BlockEvent:
        return BlockEvent(placed((event.block,), self._placement)[0])

    def _new_reader(self) -> Reader:
        request = self._request
        return self._dialect.reader(request.number, request.ask, size_of(request))


def _mean_probability(logprobs: Sequence[float]) -> float | None:
    return round(math.exp(min(0.0, sum(logprobs) / len(logprobs))), 4) if logprobs else None
