"""All files of the shared development set through the Python API, against tests/shared/expected.toml."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import pageloom
from pageloom.cli.exits import EXITS, Exit

pytestmark = pytest.mark.shared

HERE = Path(__file__).parent
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((HERE / "expected.toml").read_text(encoding="utf-8"))
LONGEST = 20  # pages of one file that are read
GLANCE = 4  # ... and that are only opened and drawn
SENTENCES = {"the PDF is encrypted; it needs a password", "the password does not open this PDF"}
GOOD = {"ok", "recovered"}
STATES = {"good": GOOD, "read": {*GOOD, "suspect"}, "suspect": {"suspect"}, "blank": {"ok"}}
# Answers a sentence for every page: what is looked at is opening, drawing and judging, all in child processes.
A_PAGE = {"blocks": [{"kind": "paragraph", "text": "A page.", "box": [0.1, 0.1, 0.9, 0.2]}]}
SCRIPTED = {"name": "scripted", "options": {"script": {"pages": {"*": [A_PAGE]}}}}
QUICK = {"limits": {"draw_seconds": 20.0}, "read": {"attempts": 1}}


def wanted(entry: dict[str, Any], most: int) -> list[int]:
    last = max(min(entry["pages"], most), *map(int, entry.get("failed", {0: ""})))
    return list(range(1, last + 1))


def exit_code(document: pageloom.Document) -> Exit:
    failed = any(page.verdict.state == "failed" for page in document.pages)
    return Exit.SOME_FAILED if failed else Exit.DONE


def as_expected(document: pageloom.Document, entry: dict[str, Any], *, words: bool) -> None:
    """Pages, warnings, failures and verdicts of one document."""
    assert document.head.page_count == entry["pages"]
    assert [page.number for page in document.pages] == wanted(entry, LONGEST if words else GLANCE)
    assert sorted(warning.code for warning in document.head.warnings) == entry.get("warnings", [])
    failed = {page.number: page.code for page in document.pages if isinstance(page, pageloom.FailedPage)}
    codes = {int(number): several.split("|") for number, several in entry.get("failed", {}).items()}
    assert set(failed) == set(codes)
    assert all(failed[number] in several for number, several in codes.items()), failed
    assert exit_code(document) == entry.get("exit", 0)
    states = {page.number: page.verdict.state for page in document.pages if page.number not in failed}
    if words:
        reasons = [page.verdict.reasons for page in document.pages]
        assert set(states.values()) <= STATES[entry["verdict"]], (states, reasons)
    for number in entry.get("blank", []):
        page = document.pages[number - 1]
        assert states[number] == "ok"
        assert page.blocks == ()
        assert "blank" in {reason.code for reason in page.verdict.reasons}


@pytest.mark.parametrize("name", [name for name, entry in EXPECTED.items() if "error" in entry])
def test_refused_files_are_refused_with_their_code(shared_data: Path, name: str) -> None:
    with pytest.raises(pageloom.InputError) as refused:
        pageloom.parse(shared_data / "dev" / name, engine="native", settings=QUICK)
    assert refused.value.code == EXPECTED[name]["error"]
    assert EXITS[refused.value.code] == EXPECTED[name]["exit"] == Exit.ALL_REFUSED
    assert str(shared_data) not in str(refused.value)


@pytest.mark.parametrize("name", [name for name, entry in EXPECTED.items() if "password" in entry])
def test_locked_files_ask_for_their_password(shared_data: Path, name: str) -> None:
    path = shared_data / "dev" / name
    for given, code in ((None, "password_required"), ("surely wrong", "password_wrong")):
        with pytest.raises(pageloom.InputError) as locked:
            pageloom.parse(path, password=given, engine="native", settings=QUICK)
        assert locked.value.code == code
        assert str(locked.value) in SENTENCES  # nothing of the file or of what was typed is in them


@pytest.mark.parametrize("name", [name for name, entry in EXPECTED.items() if "pages" in entry])
def test_every_file_is_opened_and_drawn(shared_data: Path, name: str) -> None:
    entry = EXPECTED[name]
    document = pageloom.parse(
        shared_data / "dev" / name,
        password=entry.get("password"),
        pages=wanted(entry, GLANCE),
        settings={**QUICK, "engine": SCRIPTED},
    )
    as_expected(document, entry, words=False)


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [name for name, entry in EXPECTED.items() if "pages" in entry])
def test_every_file_is_read_with_its_verdict(shared_data: Path, name: str) -> None:
    entry = EXPECTED[name]
    document = pageloom.parse(
        shared_data / "dev" / name, password=entry.get("password"), pages=wanted(entry, LONGEST), engine="auto"
    )
    as_expected(document, entry, words=True)


def test_every_file_of_the_manifest_is_listed(shared_data: Path) -> None:
    import json

    manifest = json.loads((shared_data / "dev" / "manifest.json").read_text(encoding="utf-8"))
    assert sorted(EXPECTED) == sorted(entry["file"] for entry in manifest["files"])
