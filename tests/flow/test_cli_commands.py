"""The smaller commands: config, models, doctor, help, and how faults of ours end."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pageloom import weights
from pageloom.cli import main as face
from pageloom.cli.main import COMMANDS, main


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGELOOM_WORKERS__DECODE", "1")
    monkeypatch.setenv("PAGELOOM_WORKERS__READ", "1")


def told(capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(capsys.readouterr().out)


def test_called_bare_it_shows_three_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert sum(line.startswith("  pageloom parse") for line in capsys.readouterr().out.splitlines()) == 3


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("pageloom ")


def test_it_runs_as_a_module_too() -> None:
    done = subprocess.run([sys.executable, "-m", "pageloom", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pageloom ")


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"] if name else ["--help"]) == 0
    out = capsys.readouterr().out
    assert "Usage:" in out
    assert name or all(command in out for command in COMMANDS)


def test_an_unknown_command_is_a_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pars", "x.pdf"]) == 2
    assert "parse" in capsys.readouterr().err


def test_config_tells_value_and_origin_and_hides_secrets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PAGELOOM_PASSWORD", "sesame")
    assert main(["config", "--set", "read.dpi=200", "--json"]) == 0
    rows = {row["name"]: row for row in told(capsys)}
    assert (rows["read.dpi"]["value"], rows["read.dpi"]["origin"]) == ("200.0", "command line")
    assert (rows["password"]["value"], rows["password"]["place"]) == ("(hidden)", "PAGELOOM_PASSWORD")
    assert main(["config"]) == 0
    assert "sesame" not in capsys.readouterr().out


def test_a_misspelt_variable_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PAGELOOM_READ__DIP", "200")
    assert main(["config"]) == 2
    assert "did you mean read.dpi" in capsys.readouterr().err


def test_models_are_listed_with_licence_and_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "list", "--folder", str(tmp_path), "--json"]) == 0
    rows = told(capsys)
    assert len(rows) == len(weights.MODELS)
    assert {row["state"] for row in rows} == {"missing"}
    assert all(row["licence"] and row["donor"] for row in rows)


def test_missing_models_fail_verification_with_the_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "verify", "--folder", str(tmp_path)]) == 5
    assert "pageloom models fetch" in capsys.readouterr().err


def test_a_folder_without_the_wheels_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wheels").mkdir()
    words = ["models", "fetch", "--from", str(tmp_path / "wheels"), "--folder", str(tmp_path / "models")]
    assert main(words) == 5
    assert ".whl" in capsys.readouterr().err


def checks(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in told(capsys)["checks"]}


def test_the_doctor_reads_a_known_page_without_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--engine", "native", "--json"]) == 0
    found = checks(capsys)
    assert found["known page (pdf)"]["state"] == "ok"
    assert found["known page (pdf)"]["seconds"] > 0
    assert found["engine chosen"]["text"].startswith("native")


@pytest.mark.models
def test_the_doctor_reads_a_known_picture(capsys: pytest.CaptureFixture[str]) -> None:
    if weights.missing():
        pytest.skip("the model files are not on this machine")
    assert main(["doctor", "--json"]) == 0
    assert checks(capsys)["known page (png)"]["state"] == "ok"


def test_the_doctor_names_the_fix_for_missing_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--set", f"models.folder={tmp_path}"]) == 5
    out = capsys.readouterr().out
    assert "fix: pageloom models fetch" in out
    assert "broken" in out


def test_a_reader_that_tells_something_else_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "script.toml").write_text(
        '[[pages."*"]]\nblocks = [{ kind = "paragraph", text = "quite another page", box = [0.1, 0.1, 0.9, 0.2] }]\n'
    )
    words = ["doctor", "--engine", "scripted", "--set", f"engine.options.file={tmp_path / 'script.toml'}", "--json"]
    assert main(words) == 1
    assert checks(capsys)["known page (png)"]["state"] == "broken"


def test_a_fault_of_ours_ends_with_1_and_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> int:
        raise RuntimeError("a bug")

    monkeypatch.setattr(face, "_called", broken)
    assert main(["config"]) == 1
    err = capsys.readouterr().err
    assert "RuntimeError: a bug" in err
    assert "please report it" in err
