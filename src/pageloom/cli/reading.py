"""Reading inputs from the first to the last: the app's events go to desks, to the display, into the report."""

import asyncio
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import assert_never

from pageloom import app
from pageloom.cli.desk import Desk
from pageloom.cli.display import Display
from pageloom.cli.inputs import shown
from pageloom.cli.report import Report
from pageloom.errors import ExportError, PageloomError
from pageloom.model.job import Finished, Input, Opened, PageDone, Refused, RunEvent
from pageloom.settings import Settings

LOCKED = frozenset({"password_required", "password_wrong"})
MOST_TRIES = 3  # passwords a person may try on one document
AskPassword = Callable[[str], str | None]
"""Ask a person for the password of the shown input; None = there is nobody, or no answer."""


async def read_all(
    settings: Settings, desks: Sequence[Desk], report: Report, display: Display, ask: AskPassword
) -> None:
    """Read what the desks want; the report tells what came of it.

    However it ends, what is finished is written; an interruption (Ctrl-C, SIGTERM) goes up as CancelledError.

    Raises:
        PageloomError: the engine cannot be had; no input was read.
    """
    began = time.monotonic()
    _stop_on_terminate()
    todo = _taken_up(desks, display)
    try:
        if todo:
            await _read(settings, todo, report, display, ask)
    except asyncio.CancelledError:
        report.interrupted = True
        raise
    finally:
        for desk in desks:
            desk.stop()
        report.seconds = time.monotonic() - began


async def _read(
    settings: Settings, todo: Mapping[str, Desk], report: Report, display: Display, ask: AskPassword
) -> None:
    began = time.monotonic()
    async with app.open_app(settings) as running:
        report.engine = running.engine.model_dump()
        report.engine_reason = running.engine_reason
        display.say(f"engine: {running.engine.name} ({running.engine_reason})")
        inputs = [desk.asked for desk in todo.values()]
        while inputs:
            asked = [todo[entry.key] for entry in inputs]
            async for event in running.run(inputs):
                _take(event, todo, display)
                if report.first_page is None and isinstance(event, PageDone):
                    report.first_page = time.monotonic() - began
            inputs = _unlocked(asked, display, ask)


def _taken_up(desks: Iterable[Desk], display: Display) -> dict[str, Desk]:
    todo: dict[str, Desk] = {}
    for desk in desks:
        try:
            if desk.take_up() is not None:
                todo[desk.asked.key] = desk
                continue
        except PageloomError as error:
            desk.outcome.refuse(error)
        display.ended(desk.outcome)
    return todo


def _take(event: RunEvent, desks: Mapping[str, Desk], display: Display) -> None:
    """What an event means for its desk; a disk that refuses to be written ends that document only."""
    desk = desks[event.input.key]
    if desk.outcome.error:
        return
    try:
        _put(event, desk, display)
    except OSError as error:
        desk.outcome.refuse(ExportError(f"results cannot be written to {shown(desk.stem.parent)}: {error.strerror}"))
        display.ended(desk.outcome)


def _put(event: RunEvent, desk: Desk, display: Display) -> None:
    match event:
        case Opened():
            desk.opened(event.head, event.numbers)
            display.opened(desk.total, len(desk.outcome.pages))
        case PageDone():
            display.page(desk.outcome, desk.done(event.page, event.assets))
        case Refused():
            desk.outcome.refuse(event.error)
            if event.error.code not in LOCKED:
                display.ended(desk.outcome)
        case Finished():
            desk.finish()
            display.ended(desk.outcome)
        case _:
            assert_never(event)


def _unlocked(desks: Iterable[Desk], display: Display, ask: AskPassword) -> list[Input]:
    """Locked inputs with the passwords that a person gave for them; the others are told as refused."""
    again: list[Input] = []
    for desk in desks:
        if desk.outcome.error is None or desk.outcome.error[0] not in LOCKED:
            continue
        with display.paused():
            password = ask(desk.outcome.words) if desk.tries < MOST_TRIES else None
        if password is None:
            display.ended(desk.outcome)
        else:
            again.append(desk.unlock(password))
    return again


def _stop_on_terminate() -> None:
    """SIGTERM stops as Ctrl-C does; where the platform knows no such signal, nothing is lost."""
    task = asyncio.current_task()
    if task is not None:
        with suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
