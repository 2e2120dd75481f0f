"""What `pageloom parse` does, from the first check of the command line to the exit code."""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pageloom import app
from pageloom.cli.desk import Desk, Writing
from pageloom.cli.display import Display
from pageloom.cli.exits import Exit
from pageloom.cli.inputs import STDIN, Found, Gathered, gather, shown
from pageloom.cli.naming import document_name, safe_name, stems
from pageloom.cli.reading import read_all
from pageloom.cli.report import Report
from pageloom.contracts import ExportOptions
from pageloom.errors import DocumentTooLarge, SettingsError
from pageloom.library import Document
from pageloom.model.document import DocumentHead
from pageloom.model.job import Input, PageRange
from pageloom.settings import Settings

STDOUT = "-"
PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the command line asks for, beside settings."""

    inputs: tuple[str, ...]
    output: str
    pages: str | None
    join: str | None
    resume: bool
    force: bool
    strict: bool
    as_json: bool
    quiet: bool
    formats_named: bool

    @property
    def to_stdout(self) -> bool:
        """Whether the document itself goes to stdout."""
        return self.output == STDOUT


def carry_out(settings: Settings, wish: Wish) -> Exit:
    """Read the inputs, write the results, tell what came of it.

    Raises:
        SettingsError: the command line asks for what cannot be.
        PageloomError: nothing could be read at all, e.g. because models are missing.
    """
    _agree(wish)
    with tempfile.TemporaryDirectory(prefix="pageloom-") as scratch:
        stdin = _stdin(Path(scratch), settings) if STDIN in wish.inputs else None
        folder = Path(scratch, "out") if wish.to_stdout else Path(wish.output)
        gathered = gather(wish.inputs, stdin, None if wish.to_stdout else folder)
        desks = _desks(settings, wish, _tellable(gathered.found, Path(scratch)), folder)
        report = _read(settings, wish, desks, gathered)
        code = report.exit(strict=wish.strict)
        if wish.to_stdout:
            _copy_to_stdout(desks[0].outcome.outputs)
        if wish.as_json:
            print(json.dumps(report.as_json(app.made_by(), code), ensure_ascii=False, indent=2))
        return code


def _agree(wish: Wish) -> None:
    if wish.resume and wish.force:
        raise SettingsError("--resume keeps what is done, --force does it again: give one of them")
    if wish.to_stdout and wish.as_json:
        raise SettingsError("-o - and --json would both write to stdout: give one of them")
    if wish.join is not None:
        document_name(wish.join)
    if not wish.to_stdout:
        _writable(Path(wish.output))


def _writable(folder: Path) -> None:
    """Said before hours of reading, not after them."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise SettingsError(f"results cannot be written to {shown(folder)}: {shown(there)} is no folder to write to")


def _desks(settings: Settings, wish: Wish, found: Sequence[Found], folder: Path) -> tuple[Desk, ...]:
    formats = _formats(settings, wish)
    pages = PageRange.read(wish.pages) if wish.pages else None
    password = settings.password.get_secret_value() if settings.password else None
    options = ExportOptions(headers=settings.output.headers, page_marks=settings.output.page_marks)
    writing = Writing(formats, options, wish.resume, wish.force)
    if wish.join is not None:
        asked = Input(tuple(entry.path for entry in found), wish.join, pages, password, key="0")
        return (Desk(asked, wish.join, folder / safe_name(wish.join), writing),)
    if wish.to_stdout and len(found) > 1:
        raise SettingsError(f"-o - writes one document, {len(found)} inputs were given; --join NAME makes them one")
    places = stems([entry.source for entry in found], formats.values())
    return tuple(
        Desk(Input((entry.path,), entry.name, pages, password, key=str(number)), entry.shown, folder / place, writing)
        for number, (entry, place) in enumerate(zip(found, places, strict=True))
    )


def _tellable(found: Sequence[Found], scratch: Path) -> list[Found]:
    """The same inputs; one whose path is not UTF-8 goes by a link, because child processes are spoken to in JSON."""
    told = []
    for number, entry in enumerate(found):
        path = entry.path
        if any("\udc80" <= letter <= "\udcff" for letter in str(path)):
            path = scratch / f"link-{number}"
            path.symlink_to(entry.path.absolute())
        told.append(replace(entry, path=path))
    return told


def _formats(settings: Settings, wish: Wish) -> dict[str, str]:
    """Formats to be written, with the endings of their main files."""
    named = settings.output.formats
    if wish.to_stdout and not wish.formats_named:
        return {"md": ".md"}
    if wish.to_stdout and len(named) > 1:
        raise SettingsError("-o - writes one format: give one with --format")
    nothing = Document(DocumentHead(name=""), ())
    return {name: app.exporter(name).export(nothing, ExportOptions()).files[0].name for name in named}


def _read(settings: Settings, wish: Wish, desks: Sequence[Desk], gathered: Gathered) -> Report:
    report = Report([desk.outcome for desk in desks], gathered.left_out)
    with Display(quiet=wish.quiet) as display:
        try:
            asyncio.run(read_all(settings, desks, report, display, _ask))
        except (KeyboardInterrupt, asyncio.CancelledError):
            report.interrupted = True
            for outcome in report.outcomes:
                if outcome.status == "interrupted":
                    display.ended(outcome)
            display.say("interrupted: run the same command with --resume to go on", always=True)
            return report
        for line in report.words:
            display.say(line, always=report.exit(strict=False) != Exit.DONE)
    return report


def on_terminal() -> bool:
    """Whether somebody is there who can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(why: str) -> str | None:
    """Ask on the terminal; without one nobody is asked."""
    import getpass

    if not on_terminal():
        return None
    print(why, file=sys.stderr)
    # asyncio's handler only marks its task; somebody who waits at a prompt wants out at once.
    asyncios = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return getpass.getpass("password (empty to leave it out): ", stream=sys.stderr) or None
    except EOFError:
        return None
    finally:
        signal.signal(signal.SIGINT, asyncios)


def _stdin(scratch: Path, settings: Settings) -> Path:
    if sys.stdin.isatty():
        raise SettingsError("- reads a document from stdin, and stdin is the terminal: pipe a file into it")
    limit = int(settings.limits.max_megabytes * 1_000_000)
    path = scratch / "stdin"
    with path.open("wb") as file:
        while piece := sys.stdin.buffer.read(PIECE_BYTES):
            file.write(piece)
            if file.tell() > limit:
                raise DocumentTooLarge(f"stdin: more than {settings.limits.max_megabytes:g} MB (limits.max_megabytes)")
    return path


def _copy_to_stdout(outputs: Sequence[Path]) -> None:
    """The document; its crops stay behind."""
    for path in outputs[:1]:
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.flush()
