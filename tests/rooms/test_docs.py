"""Docs are tests: whatever can be named by a user has its place in the reference, and the place is current."""

import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from pageloom import errors
from pageloom.cli.exits import EXITS
from pageloom.errors import PageloomError

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, PageloomError)]


def test_the_generated_reference_is_current() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "docs"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def paragraphs() -> dict[str, str]:
    text = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    return {code: words.strip() for code, words in re.findall(r"^### (\w+)\n\n(.*?)(?=^##|\Z)", text, re.M | re.S)}


def test_every_error_code_has_a_paragraph_with_its_exit_code() -> None:
    found = paragraphs()
    assert set(found) == set(EXITS)
    assert not [code for code, exit_code in EXITS.items() if not found[code].startswith(f"Exit {int(exit_code)}")]


def test_the_reference_says_which_errors_may_pass_by_themselves() -> None:
    found = paragraphs()
    said = {code for code, words in found.items() if re.match(r"Exit \d+, retry\.", words)}
    assert said == {kind.code for kind in KINDS if kind.retryable}


def test_every_entry_point_of_ours_is_documented() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    text = (DOCS / "reference" / "plugins.md").read_text(encoding="utf-8")
    assert not [name for names in groups.values() for name in names if f"`{name}`" not in text]


def test_every_reason_that_is_given_is_documented() -> None:
    text = (DOCS / "reference" / "reasons.md").read_text(encoding="utf-8")
    given = re.compile(r'Reason\(\s*code="(\w+)"')
    codes = {code for path in (ROOT / "src").rglob("*.py") for code in given.findall(path.read_text(encoding="utf-8"))}
    assert len(codes) > 10
    assert not [code for code in sorted(codes) if f"`{code}`" not in text]


def test_links_between_pages_lead_somewhere() -> None:
    broken = {}
    for page in [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]:
        links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
        targets = [link.partition("#")[0] for link in links if not re.match(r"[a-z]+:|#", link)]
        lost = [target for target in targets if not (page.parent / target).exists()]
        if lost:
            broken[page.relative_to(ROOT).as_posix()] = lost
    assert not broken


def test_every_page_of_the_docs_can_be_reached_from_the_index() -> None:
    seen: set[Path] = set()
    todo = [DOCS / "README.md"]
    while todo:
        page = todo.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        targets = re.findall(r"\]\(([^)\s#]+)[^)]*\)", page.read_text(encoding="utf-8"))
        todo += [(page.parent / target).resolve() for target in targets if not target.startswith("http")]
    assert not [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if page.resolve() not in seen]
