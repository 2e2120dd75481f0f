"""The checks of `pageloom doctor`, one table; a new part adds its function to `CHECKS`."""

import asyncio
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal

from pageloom import app, weights
from pageloom.cli.exits import Exit, exit_of
from pageloom.contracts import Availability
from pageloom.errors import PageloomError
from pageloom.model.blocks import text_of
from pageloom.model.document import Page
from pageloom.model.job import Input, PageDone, Refused
from pageloom.plugins import names
from pageloom.settings import Settings

State = Literal["ok", "note", "broken"]

EMBEDDED = "onnx"  # the engine whose model files `pageloom models` looks after
LIBRARIES = ("onnxruntime", "opencv-python-headless", "numpy", "pypdfium2", "pikepdf", "pillow", "pi-heif")
# scripts/canary draws these words into canary.png and canary.pdf.
CANARY_WORDS = (
    "Pageloom test page 2026. "
    "The quick brown fox jumps over the lazy dog. "
    "Invoice 4711: 12 boxes at 3.50 EUR make 42.00 EUR."
)
# A reader that works makes no mistake on this page; one letter of a hundred is let pass.
LEAST_LIKENESS = 0.98


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        state: "note" is worth knowing and no fault.
        fix: what to do, for people.
        exit: the exit code when it is broken.
    """

    name: str
    state: State
    text: str
    fix: str = ""
    exit: Exit = Exit.ENGINE_MISSING
    seconds: float = 0.0

    def timed(self, seconds: float) -> "Finding":
        """The same finding with the time it took, unless it has measured that itself."""
        return self if self.seconds else replace(self, seconds=seconds)

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        row = {"name": self.name, "state": self.state, "text": self.text, "fix": self.fix}
        return {**row, "seconds": round(self.seconds, 3)}


Check = Callable[[Settings], Iterator[Finding]]


def versions(settings: Settings) -> Iterator[Finding]:  # noqa: ARG001 - a check's shape
    """Pageloom, Python and the libraries that read."""
    python = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield Finding("versions", "ok", f"{app.made_by()}, {python}")
    for name in LIBRARIES:
        try:
            yield Finding(name, "ok", version(name))
        except PackageNotFoundError:
            yield Finding(name, "broken", "not installed", fix="scripts/install, or pip install pageloom")


def machine(settings: Settings) -> Iterator[Finding]:
    """Cores, memory, room for temporary files, and whether child processes can be limited."""
    import psutil

    memory = psutil.virtual_memory()
    cores = os.cpu_count() or 1
    yield Finding(
        "machine", "ok", f"{cores} cores, {memory.available / 2**30:.1f} of {memory.total / 2**30:.1f} GiB free"
    )
    scratch = Path(tempfile.gettempdir())
    free = psutil.disk_usage(str(scratch)).free
    wanted = settings.limits.max_megabytes * 1e6
    if free < wanted:
        yield Finding(
            "temporary files",
            "broken",
            f"{free / 1e6:.0f} MB free in {scratch}, a document may have {wanted / 1e6:.0f} MB",
            fix="make room there, or name another folder in TMPDIR",
            exit=Exit.FAULT,
        )
    if sys.platform != "linux":
        yield Finding("limits", "note", "memory of child processes cannot be limited by this system; time limits hold")


def models(settings: Settings) -> Iterator[Finding]:
    """The model files of the embedded engine, by presence and length (`models verify` reads them)."""
    folder = settings.models.folder or weights.default_folder()
    missing = weights.missing(folder)
    if missing:
        text = f"{len(missing)} of {len(weights.MODELS)} files are missing in {folder}"
        state: State = "broken" if settings.engine.name in {"auto", EMBEDDED} else "note"
        yield Finding("models", state, text, fix=weights.FETCH_COMMAND)
    else:
        yield Finding("models", "ok", f"{len(weights.MODELS)} files in {folder}")


def engines(settings: Settings) -> Iterator[Finding]:
    """Every installed engine, and the one that would be taken."""
    for name in names("engines"):
        try:
            found = app.availability(settings, name)
        except PageloomError as error:
            found = Availability(works=False, reason=str(error))
        state: State = "ok" if found.works else "note"
        yield Finding(f"engine {name}", state, found.reason, fix=found.fix)
    try:
        chosen = app.choose(settings)
    except PageloomError as error:
        yield Finding("engine chosen", "broken", str(error), exit=exit_of(error))
    else:
        yield Finding("engine chosen", "ok", f"{chosen.name} ({chosen.reason})")


def languages(settings: Settings) -> Iterator[Finding]:  # noqa: ARG001 - a check's shape
    """What the embedded engine reads by itself, and what tesseract adds where it is installed."""
    yield Finding("languages", "ok", "Chinese, Japanese, English and other languages in Latin or Greek letters")
    try:
        from pageloom.engines.onnx.tesseract import Tesseract
    except ImportError:
        return  # `versions` has said what is missing
    found = Tesseract.find()
    if found is None:
        text = "tesseract is not installed: scans in Hangul, Cyrillic, Arabic and other scripts cannot be read"
        yield Finding("more languages", "note", text, fix="install tesseract 5 and its data, e.g. tesseract-ocr-kor")
    else:
        yield Finding("more languages", "ok", f"by tesseract: {', '.join(sorted(found.languages)) or 'no data'}")


def known_page(settings: Settings) -> Iterator[Finding]:
    """A page whose words are known, read from a picture and from a PDF with a text layer."""
    with as_file(files("pageloom.cli") / "canary.png") as png, as_file(files("pageloom.cli") / "canary.pdf") as pdf:
        paths = (pdf,) if settings.engine.name == app.TEXT_LAYER else (pdf, png)
        try:
            yield from asyncio.run(_read_known(settings, paths))
        except PageloomError as error:
            yield Finding("known page", "broken", str(error), exit=exit_of(error))


async def _read_known(settings: Settings, paths: tuple[Path, ...]) -> list[Finding]:
    began = time.monotonic()
    findings = []
    async with app.open_app(settings) as running:
        for path in paths:
            async with aclosing(running.run([Input((path,), path.name)])) as events:
                async for event in events:
                    if isinstance(event, PageDone | Refused):
                        findings.append(_judged(path.suffix[1:], event, time.monotonic() - began))
                        began = time.monotonic()
    return findings


def _judged(kind: str, event: PageDone | Refused, seconds: float) -> Finding:
    name = f"known page ({kind})"
    if isinstance(event, Refused):
        return Finding(name, "broken", str(event.error), exit=Exit.FAULT, seconds=seconds)
    page = event.page
    if not isinstance(page, Page):
        return Finding(name, "broken", f"{page.reason} ({page.code})", exit=Exit.FAULT, seconds=seconds)
    likeness = _likeness(" ".join(text_of(block) for block in page.blocks))
    by = page.engine.name if page.engine else "?"
    text = f"read by {by}: {likeness:.1%} of its letters right, verdict {page.verdict.state}"
    right = likeness >= LEAST_LIKENESS
    fix = "" if right else "pageloom models verify; a report with this table helps us"
    return Finding(name, "ok" if right else "broken", text, fix=fix, exit=Exit.FAULT, seconds=seconds)


def _likeness(text: str) -> float:
    from rapidfuzz.distance import Levenshtein

    read, known = ("".join(words.split()) for words in (text, CANARY_WORDS))
    return Levenshtein.normalized_similarity(read, known)


CHECKS: tuple[Check, ...] = (versions, machine, models, languages, engines, known_page)
