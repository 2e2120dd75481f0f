"""What a person sees while pages are read: a bar on a terminal, plain lines elsewhere; always on stderr."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pageloom.cli.report import STATES, Outcome, PageLine

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# A scan of 500 suspect pages would bury everything else; the JSON and --json name all.
MOST_LINES = 10


class Display:
    """Lines on stderr; on a terminal also a bar with pages, verdicts and the time left.

    Args:
        quiet: only failures are told, and no bar is drawn.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._verdicts: Counter[str] = Counter()
        self._told: Counter[str] = Counter()
        self._pages = 0

    def __enter__(self) -> "Display":
        if not self._quiet and sys.stderr.isatty():
            self._bar, self._task = _bar()
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The bar steps aside, so that something can be asked."""
        if self._bar is not None:
            self._bar.stop()
        try:
            yield
        finally:
            if self._bar is not None:
                self._bar.start()

    def say(self, text: str, *, always: bool = False) -> None:
        """One line; `always` also when quiet."""
        if self._quiet and not always:
            return
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def opened(self, pages: int, done: int) -> None:
        """A document was opened: its pages count, those that were done before too."""
        self._pages += pages
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, total=self._pages, advance=done)

    def page(self, outcome: Outcome, line: PageLine) -> None:
        """A page has ended; what speaks against it is told at once."""
        self._verdicts[line.state] += 1
        if line.state in {"failed", "suspect"}:
            self._told[outcome.shown] += 1
            if self._told[outcome.shown] <= MOST_LINES:
                self.say(f"{outcome.shown}: {line.words}", always=line.state == "failed")
        if self._bar is not None and self._task is not None:
            counts = "  ".join(f"{state} {self._verdicts[state]}" for state in STATES if self._verdicts[state])
            self._bar.update(self._task, advance=1, verdicts=counts)

    def ended(self, outcome: Outcome) -> None:
        """A document has ended."""
        more = self._told[outcome.shown] - MOST_LINES
        if more > 0:
            self.say(f"{outcome.shown}: {more} more pages are suspect or failed", always=True)
        self.say(outcome.words, always=outcome.error is not None or outcome.status == "partial")


def _bar() -> tuple["Progress", "TaskID"]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("pages"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[verdicts]}"),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )
    return bar, bar.add_task("pages", total=None, verdicts="")
