"""The summary: what people and machines are told of a run."""

import re
from pathlib import Path

from pageloom.cli.report import Outcome, PageLine, Report
from pageloom.errors import PasswordRequired
from pageloom.model.document import FailedPage, Page, Reason, Route, Verdict
from pageloom.model.geometry import PageSize

ROOT = Path(__file__).resolve().parents[3]


def suspect() -> Page:
    why = Reason(code="low_score", text="mean score 0.70")
    return Page(
        number=2, size=PageSize(1, 1), verdict=Verdict(state="suspect", reasons=(why,)), route=Route(name="ocr")
    )


def test_a_page_is_told_in_one_line_with_its_reasons_and_codes() -> None:
    assert PageLine.of(suspect()).words == "page 2: suspect: mean score 0.70 (low_score)"
    failed = FailedPage(number=3, code="unreadable", reason="contrast too low to read")
    assert PageLine.of(failed).words == "page 3: failed: contrast too low to read (unreadable)"


def test_an_outcome_is_told_in_one_line() -> None:
    outcome = Outcome("a.pdf", status="done", outputs=[Path("out/a.md")])
    outcome.pages[2] = PageLine.of(suspect())
    assert outcome.words == "a.pdf: 1 page: 1 suspect -> out/a.md"
    outcome.refuse(PasswordRequired("it needs a password"))
    assert outcome.words == "a.pdf: refused: it needs a password (password_required)"


def keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return {*value, *(key for inner in value.values() for key in keys(inner))}
    return {key for inner in value for key in keys(inner)} if isinstance(value, list) else set()


def test_every_field_of_the_summary_is_documented() -> None:
    outcome = Outcome("a.pdf", warnings=(("repaired", "its table of contents"),))
    outcome.pages[2] = PageLine.of(suspect())
    outcome.refuse(PasswordRequired("locked"))
    told = Report([outcome], engine={"name": "onnx", "version": "1", "model": "m"}).as_json("pageloom 1", 4)
    documented = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "reference" / "summary.md").read_text(encoding="utf-8")))
    assert keys(told) <= documented


def test_failures_are_listed_at_the_end_of_a_run_of_several() -> None:
    good, bad = Outcome("a.pdf", status="done"), Outcome("b.pdf")
    bad.refuse(PasswordRequired("locked"))
    lines = Report([good, bad], left_out=(Path("notes.txt"),)).words
    assert lines[0].startswith("2 inputs: 1 done, 1 refused")
    assert "  b.pdf: refused: locked (password_required)" in lines
    assert "1 file" in lines[-1]
