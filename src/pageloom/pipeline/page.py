"""The life of one page, top to bottom."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pageloom.errors import PageloomError, RenderCrashed, UnreadablePage
from pageloom.model.document import AnyPage, Attempt, FailedPage, Page, Reason, Route, Verdict
from pageloom.model.image import DrawnPage, Target
from pageloom.model.job import PageTask
from pageloom.model.reading import Ask, PageRequest
from pageloom.pipeline.askers import Asker, Events
from pageloom.pipeline.ladder import Climbed, RetryBudget, climb
from pageloom.pipeline.route import route
from pageloom.pipeline.tidy import named, pictured
from pageloom.pipeline.wire import Drawn
from pageloom.pipeline.workers import EngineSpec, Workers
from pageloom.trust.agreement import agreement
from pageloom.trust.confidence import calibrated
from pageloom.trust.marks import marked
from pageloom.trust.verdict import SPOKEN, comparable, judge

SMALLER = 1600  # longest side in pixels of the second try after a crash (SERVING.md 1.7)
UNREADABLE = {
    "low_contrast": "contrast too low to read",
    "blurred": "too blurred to read",
    "too_small": "too small to read",
}


@dataclass(frozen=True, slots=True)
class HowToRead:
    """How the pages of a run are read.

    Attributes:
        engine: name of the engine that reads pixels.
        native: name of the engine that reads text layers, or None when every page is to be read from its pixels.
        target, form: how large pages are drawn, and whether as raw pixels or JPEG.
        text_only: the text layer alone is read, in the decoding process; nothing is drawn.
        retries: what all pages of a run may spend on asking a model again.
    """

    engine: str
    native: str | None
    target: Target
    form: str = "raw"
    text_only: EngineSpec | None = None
    ask: Ask = Ask()
    languages: tuple[str, ...] = ()
    attempts: int = 3
    retries: RetryBudget | None = None


@dataclass(frozen=True, slots=True)
class PageResult:
    """A page that has ended, and its crops by asset name."""

    page: AnyPage
    assets: Mapping[str, bytes] = field(default_factory=dict)


async def read_page(
    task: PageTask, workers: Workers, askers: Mapping[str, Asker], how: HowToRead, events: Events
) -> PageResult:
    """Read one page. A page that fails is a result, not an exception."""
    started = time.monotonic()
    try:
        if how.text_only is not None:
            drawn, reading = await workers.draw_and_read(task, how.text_only, how.languages)
            climbed = Climbed(reading, (Attempt(rung="text", engine=reading.engine.name, outcome="stop"),))
            return _page(task, drawn, route(drawn, wanted="native"), climbed, started)
        held = await _draw(task, workers, how)
        if held.page.readable == "blank" and not _has_glyphs(held.page):
            return _blank(task, held.page, started)
        way = route(held.page, wanted="auto" if how.native else how.engine)
        _refuse_unreadable(task, held.page, way)
        climbed = await climb(way, _request(task, held, how), held.passing, askers, how, events)
        result = _page(task, held.page, way, climbed, started)
        return await _with_pictures(result, task, workers, how)
    except PageloomError as error:
        return PageResult(failed(task, error.code, str(error), started, error.attempts))
    except Exception as error:  # noqa: BLE001 - a stranger's plug-in, a bug of ours: the page fails, the job goes on
        return PageResult(failed(task, "internal", f"page {task.number}: {type(error).__name__}: {error}", started))


async def _draw(task: PageTask, workers: Workers, how: HowToRead) -> Drawn:
    try:
        return await workers.draw(task, how.target, how.form)
    except RenderCrashed:  # perhaps the pages before it had filled that process: once more, smaller, in a fresh one
        smaller = replace(how.target, longest_px=min(SMALLER, how.target.longest_px))
        return await workers.draw(task, smaller, how.form)


def _refuse_unreadable(task: PageTask, drawn: DrawnPage, way: Route) -> None:
    """Name a page that is too poor to read before an engine's time is spent; a sound text layer needs no pixels."""
    if way.name != "native" and drawn.readable in UNREADABLE:
        raise UnreadablePage(f"page {task.number}: {UNREADABLE[drawn.readable]}")


def _request(task: PageTask, held: Drawn, how: HowToRead) -> PageRequest:
    drawn = held.page
    return PageRequest(
        number=task.number,
        image=None,
        text=drawn.text,
        encoded=drawn.encoded,
        ask=how.ask,
        languages=how.languages,
        attempt=f"{task.job}/{task.number}/{task.attempt}",
    )


def _has_glyphs(drawn: DrawnPage) -> bool:
    """Whether a text layer has something to say where the pixels show nothing (a few words on a huge page)."""
    return drawn.text is not None and any(line.seen and line.text.strip() for line in drawn.text.lines)


def _blank(task: PageTask, drawn: DrawnPage, started: float) -> PageResult:
    spoken = tuple(Reason(code=note, text=SPOKEN[note]) for note in drawn.notes if note in SPOKEN)
    blank = Reason(code="blank", text="nothing is printed on this page")
    verdict = Verdict(state="suspect", reasons=spoken) if spoken else Verdict(reasons=(blank,))
    return PageResult(
        Page(number=task.number, size=drawn.info.size, verdict=verdict, seconds=time.monotonic() - started)
    )


def _page(task: PageTask, drawn: DrawnPage, way: Route, climbed: Climbed, started: float) -> PageResult:
    reading = climbed.reading
    blocks, found = calibrated(reading.blocks), None
    if way.name != "native" and drawn.text is not None and comparable(drawn.text):
        found = agreement(reading.blocks, drawn.text, task.number)
        blocks = marked(blocks, found)
    page = Page(
        number=task.number,
        size=drawn.info.size,
        blocks=blocks,
        verdict=judge(reading, drawn.text, attempts=climbed.attempts, notes=drawn.notes, found=found),
        route=way,
        engine=reading.engine,
        attempts=climbed.attempts,
        turned=reading.turned,
        skew=round(reading.skew, 3),
        seconds=round(time.monotonic() - started, 3),
    )
    return PageResult(page, reading.assets)


async def _with_pictures(result: PageResult, task: PageTask, workers: Workers, how: HowToRead) -> PageResult:
    """Cut figures out of the page for engines that were sent a JPEG and hold no pixels themselves."""
    page = result.page
    if isinstance(page, FailedPage) or how.form == "raw":
        return result
    wanted = pictured(page.blocks)
    if not wanted:
        return result
    cuts = await workers.crop(task, how.target, [block.regions[0].box for block in wanted])
    blocks, assets = named(page.blocks, wanted, cuts)
    return PageResult(page.model_copy(update={"blocks": blocks}), {**result.assets, **assets})


def failed(task: PageTask, code: str, reason: str, started: float, attempts: tuple[Attempt, ...] = ()) -> FailedPage:
    """The page's place in the document, with the reason why it is empty."""
    return FailedPage(
        number=task.number,
        size=task.size,
        code=code,
        reason=reason,
        attempts=attempts,
        seconds=round(time.monotonic() - started, 3),
    )
