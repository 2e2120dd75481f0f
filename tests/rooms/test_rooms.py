"""The walls: small modules, a light import, concurrency in one place, contracts that hold."""

import ast
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "pageloom"
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in SOURCE.rglob("*.py"))
LONGEST = 400
HEAVY = (
    "numpy",
    "cv2",
    "onnxruntime",
    "torch",
    "PIL",
    "pypdfium2",
    "pikepdf",
    "pdfplumber",
    "lxml",
    "openpyxl",
    "rich",
)
# Measured beside the time of a bare interpreter, so that a slow or busy machine does not decide.
LONGEST_IMPORT_S = 0.3


def test_a_module_has_one_room() -> None:
    lengths = {module: len((ROOT / module).read_text(encoding="utf-8").splitlines()) for module in MODULES}
    assert not {module: lines for module, lines in lengths.items() if lines > LONGEST}


def test_a_module_says_what_it_is_and_leaves_nothing_half_done() -> None:
    texts = {module: (ROOT / module).read_text(encoding="utf-8") for module in MODULES}
    assert not [module for module, text in texts.items() if not ast.get_docstring(ast.parse(text))]
    half_done = re.compile(r"\b(TODO|FIXME|XXX)\b|raise NotImplementedError")
    assert not [module for module, text in texts.items() if half_done.search(text)]


def loaded_by(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_importing_pageloom_loads_no_heavy_library() -> None:
    assert not loaded_by("import pageloom") & {*HEAVY, "pydantic", "asyncio", "typer"}


def test_naming_the_errors_loads_no_heavy_library() -> None:
    assert not loaded_by("import pageloom; pageloom.PageloomError, pageloom.Page, pageloom.Document") & {
        "numpy",
        "cv2",
        "onnxruntime",
        "torch",
        "pypdfium2",
    }


def test_importing_pageloom_is_quick() -> None:
    def best_of_five(code: str) -> float:
        times = []
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - began)
        return min(times)

    assert best_of_five("import pageloom") - best_of_five("pass") <= LONGEST_IMPORT_S


@pytest.mark.parametrize("words", [["--version"], []])
def test_the_command_answers_at_once(words: list[str]) -> None:
    times = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "pageloom", *words], check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    assert min(times) <= 0.5


def test_the_command_loads_nothing_that_its_sub_command_does_not_need() -> None:
    loaded = loaded_by("import contextlib\nfrom pageloom.cli.main import main\nmain(['--version'])")
    assert not loaded & {*HEAVY, "typer", "pydantic"}


def test_the_floors_hold() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_scripts_are_sound_shell() -> None:
    for path in [*sorted((ROOT / "scripts").iterdir()), ROOT / ".ci" / "run"]:
        if path.read_bytes().startswith(b"#!/usr/bin/env bash"):
            assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0, path.name
            assert re.search(r"^set -(e?)uo pipefail$", path.read_text(), re.MULTILINE), (
                f"{path.name} goes on after faults"
            )
            assert path.stat().st_mode & 0o111, f"{path.name} cannot be run"


def test_scripts_in_python_are_looked_at_by_the_linter() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = set(settings["tool"]["ruff"]["extend-include"])
    texts = {path: path.read_bytes() for path in (ROOT / "scripts").iterdir() if path.is_file()}
    ours = {f"scripts/{path.name}" for path, text in texts.items() if text.startswith(b"#!/usr/bin/env python3")}
    assert ours <= included
