"""Exit codes: a row for every error, and the codes of whole runs."""

import inspect

import pytest

from pageloom import errors
from pageloom.cli.exits import EXITS, MEANINGS, Exit, exit_of, exit_of_refusals
from pageloom.cli.report import Outcome, PageLine, Report
from pageloom.errors import DamagedDocument, ModelsMissing, OutputExists, PageloomError, PasswordRequired, SettingsError

CODES = {kind.code for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, PageloomError)}


def test_every_error_code_has_a_row_and_every_row_an_error() -> None:
    assert set(EXITS) == CODES | {"internal"}


def test_every_exit_code_has_its_meaning() -> None:
    assert set(MEANINGS) == set(Exit)


@pytest.mark.parametrize(
    ("error", "code"), [(SettingsError("x"), 2), (ModelsMissing("x"), 5), (DamagedDocument("x"), 4)]
)
def test_an_error_ends_with_its_code(error: PageloomError, code: int) -> None:
    assert exit_of(error) == code


def test_a_plugins_own_error_is_a_fault() -> None:
    class Strange(PageloomError):
        code = "strange"

    assert exit_of(Strange("x")) is Exit.FAULT


def outcome(*states: str, error: PageloomError | None = None) -> Outcome:
    found = Outcome("x.pdf", status="done")
    for number, state in enumerate(states, 1):
        found.pages[number] = PageLine(number, state, (), "ocr", 0.1)  # type: ignore[arg-type]
    if error:
        found.refuse(error)
    return found


DAMAGED = DamagedDocument("broken")
LOCKED = PasswordRequired("locked")


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([outcome("ok", "recovered")], 0),
        ([outcome("ok", "suspect")], 0),
        ([outcome("ok", "failed")], 3),
        ([outcome("failed")], 3),
        ([outcome("ok"), outcome(error=DAMAGED)], 3),
        ([outcome(error=DAMAGED), outcome(error=LOCKED)], 4),
        ([outcome(error=OutputExists("there"))], 2),
        ([outcome(error=OutputExists("there")), outcome(error=DAMAGED)], 4),
    ],
)
def test_a_run_ends_with_the_code_of_what_came_of_it(outcomes: list[Outcome], code: int) -> None:
    assert Report(outcomes).exit(strict=False) == code


def test_strict_makes_suspect_pages_a_failure() -> None:
    assert Report([outcome("ok", "suspect")]).exit(strict=True) == 3
    assert Report([outcome("ok", "recovered")]).exit(strict=True) == 0


def test_an_interruption_is_told_before_anything_else() -> None:
    assert Report([outcome("failed")], interrupted=True).exit(strict=False) == 130


def test_refusals_of_different_kinds_are_all_refused() -> None:
    assert exit_of_refusals(["models_missing", "damaged_document"]) is Exit.ALL_REFUSED
