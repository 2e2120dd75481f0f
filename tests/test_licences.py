"""Every dependency of the lock is permissive, or MPL/LGPL used unmodified; the binaries in its wheels too."""

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, files, metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RULES = tomllib.loads((ROOT / "docs" / "reference" / "licences.toml").read_text(encoding="utf-8"))
LOCKS = [path.name for path in sorted(ROOT.glob("requirements*.lock"))]
COPYLEFT = re.compile(r"\b(A?GPL|SSPL|EUPL|OSL|CC-BY-SA|CC-BY-NC)", re.IGNORECASE)


def locked() -> dict[str, str]:
    """Names of the lock with their environment markers."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", "")
    found = re.findall(r"^([\w.-]+)==\S+\s*(?:;\s*(.*?))?\s+--hash", text, re.MULTILINE)
    return {name.lower().replace("_", "-").replace(".", "-"): marker for name, marker in found}


def licence_of(name: str) -> str:
    """SPDX expression of a package: our own table, else its metadata."""
    if name in RULES["packages"]:
        return str(RULES["packages"][name][0])
    about = metadata(name)
    expression = about.get("License-Expression")
    if expression:
        return expression
    classifiers = [line.rsplit(":: ", 1)[-1] for line in about.get_all("Classifier") or [] if "License ::" in line]
    words = about.get("License") or next((line for line in classifiers if line != "OSI Approved"), "")
    return str(RULES["words"].get(words, words))


def test_the_lock_is_read_whole() -> None:
    count = sum(1 for line in (ROOT / "requirements.lock").read_text().splitlines() if re.match(r"[\w.-]+==", line))
    assert 30 <= len(locked()) <= count


def test_every_locked_package_has_a_licence_that_is_allowed() -> None:
    allowed = {*RULES["permissive"], *RULES["weak_copyleft"]}
    refused = {}
    for name in locked():
        try:
            ids = set(re.findall(r"[\w.+-]+", re.sub(r"\b(AND|OR|WITH)\b", " ", licence_of(name))))
        except PackageNotFoundError:
            ids = {"not installed here and not in licences.toml"}
        if not ids or ids - allowed:
            refused[name] = ids - allowed
    assert not refused


@pytest.mark.parametrize("licence", ["GPL-3.0-or-later", "AGPL-3.0", "proprietary", ""])
def test_other_licences_would_be_refused(licence: str) -> None:
    assert licence not in {*RULES["permissive"], *RULES["weak_copyleft"]}


def libraries(name: str) -> list[str]:
    """Shared libraries in a package's wheel that are no extension modules of its own."""
    found = [file.name for file in files(name) or ()]
    return sorted({entry for entry in found if re.match(r"lib.*\.(so(\.\d.*)?|dylib|dll)$", entry)})


@pytest.mark.skipif(sys.platform != "linux", reason="names of bundled libraries differ by system")
def test_every_bundled_library_is_known_and_allowed() -> None:
    unknown = {}
    for name in locked():
        try:
            several = libraries(name)
        except PackageNotFoundError:
            continue
        known = tuple(RULES["bundled"].get(name, {}))
        strange = [library for library in several if not library.startswith(known)] if known else several
        if strange:
            unknown[name] = strange
    assert not unknown


def test_no_bundled_library_is_copyleft_without_an_exception() -> None:
    entries = [entry for several in RULES["bundled"].values() for entry in several.values()]
    assert not [licence for licence, _ in entries if COPYLEFT.search(licence) and "WITH GCC-exception" not in licence]


@pytest.mark.skipif(sys.platform != "linux", reason="names of bundled libraries differ by system")
def test_ffmpeg_in_opencv_is_built_without_its_gpl_parts() -> None:
    paths = [
        Path(str(file.locate())) for file in files("opencv-python-headless") or () if file.name.startswith("libav")
    ]
    ffmpeg = [path for path in paths if path.name.startswith(("libavutil", "libavcodec", "libavformat"))]
    assert ffmpeg
    for path in ffmpeg:
        words = path.read_bytes()
        assert b"--enable-gpl" not in words
        assert b"--enable-nonfree" not in words


@pytest.mark.skipif(sys.platform != "linux", reason="names of bundled libraries differ by system")
def test_heic_is_read_without_the_gpl_encoder() -> None:
    names = libraries("pi-heif")
    assert {name.split("-")[0].split(".")[0] for name in names} == {"libde265", "libheif"}
    for file in files("pi-heif") or ():
        if file.name in names:  # the extension module only says that it can report an encoder's version
            assert b"x265" not in Path(str(file.locate())).read_bytes()


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_address_and_a_hash_for_everything(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", "")
    assert not re.search(r"https?://|--index-url|--extra-index-url|--find-links|file:", text)
    pins = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert pins
    assert not [line for line in pins if not re.match(r"[\w.-]+==\S+.*--hash=sha256:[0-9a-f]{64}", line)]


def test_what_is_agpl_is_an_extra_and_never_a_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not {"pymupdf"} & {re.split(r"[\[<>=]", name)[0] for name in project["dependencies"]}
    assert set(RULES["extras"]) <= set(project["optional-dependencies"])
