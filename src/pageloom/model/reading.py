"""What an engine is asked for, and what it answers."""

from dataclasses import dataclass, field
from typing import Literal

from pageloom.model.blocks import Block
from pageloom.model.document import EngineName
from pageloom.model.image import EncodedImage, PageImage, PageText

Task = Literal["markdown", "text", "figure", "locate", "custom"]
Finish = Literal["stop", "length", "loop", "cancelled"]


@dataclass(frozen=True, slots=True)
class Decoding:
    """How a language model writes: limits in tokens; every engine spells it its own way."""

    max_output_tokens: int
    temperature: float = 0.0
    ngram: int | None = None
    ngram_window: int | None = None
    whitelist: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """What is wanted from a page: the task, and its words for `locate` and `custom`."""

    task: Task = "markdown"
    words: str = ""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One page for one engine.

    Attributes:
        encoded: the page as JPEG, for engines whose factory says `image_form = "jpeg"`; `image` is None then.
        attempt: unique per try; late answers of an older attempt are dropped.
        languages: BCP 47 tags the reader should expect, most likely first; empty = find out.
        decoding: overrides of the dialect's defaults (a rung of the ladder), or None.
        priority: lower is earlier.
    """

    number: int
    image: PageImage | None
    text: PageText | None
    encoded: EncodedImage | None = None
    ask: Ask = Ask()
    languages: tuple[str, ...] = ()
    decoding: Decoding | None = None
    tiles: bool = True
    priority: int = 0
    attempt: str = ""


@dataclass(frozen=True, slots=True)
class BlockEvent:
    """A block as it becomes known while the page is being read; a later event with the same id replaces it."""

    block: Block


@dataclass(frozen=True, slots=True)
class Delta:
    """Newly read words, for watchers only; the blocks tell where they belong."""

    text: str
    progress: float = 0.0
    """Share of the page's height read, 0-1; never falls within an attempt."""


@dataclass(frozen=True, slots=True)
class Reading:
    """An engine's answer for a page. The raw text is kept: it can be parsed again without the engine.

    Attributes:
        score: mean recogniser score or mean token probability, 0-1, uncalibrated; None when unknown.
        notes: machine-readable remarks (`runs_trimmed`, `language_unsupported`, `ngram_guard_off` ...).
        turned, skew: as in `Page`.
        assets: crops made by engines that hold the pixels, by asset name.
    """

    blocks: tuple[Block, ...]
    engine: EngineName
    raw: str = ""
    finish: Finish = "stop"
    prompt_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    score: float | None = None
    notes: tuple[str, ...] = ()
    turned: Literal[0, 90, 180, 270] = 0
    skew: float = 0.0
    assets: dict[str, bytes] = field(default_factory=dict)
