"""What came of a run: one outcome for each input, the summary as words and as JSON, and the exit code."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pageloom.cli.exits import Exit, exit_of_refusals
from pageloom.cli.inputs import shown
from pageloom.errors import PageloomError
from pageloom.model.document import AnyPage, VerdictState

Status = Literal["not read", "done", "partial", "refused", "already done", "interrupted"]
STATES: tuple[VerdictState, ...] = ("ok", "recovered", "suspect", "failed")


@dataclass(slots=True)
class PageLine:
    """One page in the summary."""

    number: int
    state: VerdictState
    reasons: tuple[tuple[str, str], ...]
    route: str
    seconds: float

    @classmethod
    def of(cls, page: AnyPage) -> "PageLine":
        """The summary of a page."""
        verdict = page.verdict
        route = page.route.name if page.kind == "page" and page.route else ""
        reasons = tuple((reason.code, reason.text) for reason in verdict.reasons)
        return cls(page.number, verdict.state, reasons, route, page.seconds)

    @property
    def words(self) -> str:
        """`page 3: failed: contrast too low to read (unreadable)`."""
        why = "; ".join(f"{text} ({code})" if text else code for code, text in self.reasons)
        return f"page {self.number}: {self.state}" + (f": {why}" if why else "")


@dataclass(slots=True)
class Outcome:
    """What came of one input.

    Attributes:
        shown: the input as the user named it.
        page_count: pages of the source; `pages` holds those that were asked for and have ended.
        seconds: from the start of its reading to its last written file.
    """

    shown: str
    status: Status = "not read"
    page_count: int = 0
    pages: dict[int, PageLine] = field(default_factory=dict)
    outputs: list[Path] = field(default_factory=list)
    warnings: tuple[tuple[str, str], ...] = ()
    error: tuple[str, str] | None = None
    seconds: float = 0.0

    def refuse(self, error: PageloomError) -> None:
        """The input came to nothing."""
        self.status = "refused"
        self.error = (error.code, str(error))

    @property
    def verdicts(self) -> dict[str, int]:
        """How many pages have each verdict."""
        found = Counter(page.state for page in self.pages.values())
        return {state: found[state] for state in STATES}

    @property
    def words(self) -> str:
        """One line for people."""
        if self.error:
            code, message = self.error
            return f"{self.shown}: refused: {message} ({code})"
        counts = ", ".join(f"{number} {state}" for state, number in self.verdicts.items() if number)
        pages = f"{len(self.pages)} page{'' if len(self.pages) == 1 else 's'}"
        where = f" -> {shown(self.outputs[0])}" if self.outputs else ""
        status = "" if self.status in {"done", "partial"} else f"{self.status}, "
        return f"{self.shown}: {status}{pages}" + (f": {counts}" if counts else "") + where

    def as_json(self) -> dict[str, Any]:
        """The outcome for machines."""
        return {
            "input": self.shown,
            "status": self.status,
            "page_count": self.page_count,
            "verdicts": self.verdicts,
            "pages": [_page_json(page) for _, page in sorted(self.pages.items())],
            "outputs": [shown(path) for path in self.outputs],
            "warnings": [{"code": code, "text": text} for code, text in self.warnings],
            "error": {"code": self.error[0], "message": self.error[1]} if self.error else None,
            "seconds": round(self.seconds, 3),
        }


@dataclass(slots=True)
class Report:
    """What came of a run.

    Attributes:
        left_out: files of folders that are neither PDF nor image.
        first_page: seconds until the first page had ended, None when none did.
    """

    outcomes: list[Outcome]
    left_out: tuple[Path, ...] = ()
    engine: dict[str, str] = field(default_factory=dict)
    engine_reason: str = ""
    interrupted: bool = False
    seconds: float = 0.0
    first_page: float | None = None

    def exit(self, *, strict: bool) -> Exit:
        """The exit code; `strict` makes suspect pages a failure."""
        if self.interrupted:
            return Exit.INTERRUPTED
        codes = [outcome.error[0] for outcome in self.outcomes if outcome.error]
        if codes and len(codes) == len(self.outcomes):
            return exit_of_refusals(codes)
        bad = {"failed", "suspect"} if strict else {"failed"}
        if codes or any(page.state in bad for page in _pages(self.outcomes)):
            return Exit.SOME_FAILED
        return Exit.DONE

    @property
    def words(self) -> list[str]:
        """The last lines for people: totals, then every input that came to nothing."""
        refused = [outcome for outcome in self.outcomes if outcome.error]
        partial = [outcome for outcome in self.outcomes if outcome.status == "partial"]
        lines = [f"{len(self.outcomes)} inputs: {self._totals()}"] if len(self.outcomes) > 1 else []
        if len(self.outcomes) > 1 and refused:
            lines += ["not read:", *(f"  {outcome.words}" for outcome in refused)]
        if len(self.outcomes) > 1 and partial:
            lines += ["with failed pages:", *(f"  {outcome.words}" for outcome in partial)]
        if self.left_out:
            files = "1 file" if len(self.left_out) == 1 else f"{len(self.left_out)} files"
            lines.append(f"left out, neither PDF nor image: {files}, such as {shown(self.left_out[0])}")
        return lines

    def _totals(self) -> str:
        found = Counter(outcome.status for outcome in self.outcomes)
        pages = Counter(page.state for page in _pages(self.outcomes))
        documents = ", ".join(f"{number} {status}" for status, number in found.items())
        verdicts = ", ".join(f"{pages[state]} {state}" for state in STATES if pages[state])
        return f"{documents}; pages: {verdicts or 'none'}; {self.seconds:.1f} s"

    def as_json(self, version: str, exit_code: Exit) -> dict[str, Any]:
        """The run for machines (`--json`)."""
        pages = Counter(page.state for page in _pages(self.outcomes))
        return {
            "pageloom": version,
            "exit": int(exit_code),
            "engine": self.engine,
            "engine_reason": self.engine_reason,
            "verdicts": {state: pages[state] for state in STATES},
            "inputs": [outcome.as_json() for outcome in self.outcomes],
            "left_out": [shown(path) for path in self.left_out],
            "seconds": round(self.seconds, 3),
            "seconds_to_first_page": None if self.first_page is None else round(self.first_page, 3),
        }


def _pages(outcomes: Iterable[Outcome]) -> Sequence[PageLine]:
    return [page for outcome in outcomes for page in outcome.pages.values()]


def _page_json(page: PageLine) -> dict[str, Any]:
    return {
        "page": page.number,
        "verdict": page.state,
        "reasons": [{"code": code, "text": text} for code, text in page.reasons],
        "route": page.route,
        "seconds": round(page.seconds, 3),
    }
