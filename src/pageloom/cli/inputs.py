"""What the user named on the command line, as files: folders are walked, `-` is stdin."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from pageloom.cli.naming import Source
from pageloom.errors import PageloomError, SettingsError
from pageloom.sources.detect import media_type_of

STDIN = "-"
# A file of a folder with such a suffix is meant as a document: when it is none, that is a failure and not a remark.
SUFFIXES = frozenset(
    ".pdf .png .jpg .jpeg .jpe .jfif .webp .gif .bmp .dib .tif .tiff .heic .heif .hif".split()  # noqa: SIM905 - a list to read
)


@dataclass(frozen=True, slots=True)
class Found:
    """One input file: where it lies, how it is shown to the user, what its outputs are named after."""

    path: Path
    shown: str
    source: Source

    @property
    def name(self) -> str:
        """The name that the document carries."""
        return shown(PurePath(self.source.name))


@dataclass(frozen=True, slots=True)
class Gathered:
    """All input files in the order given, and the files of folders that are no documents."""

    found: tuple[Found, ...]
    left_out: tuple[Path, ...]


def gather(names: Sequence[str], stdin: Path | None, output: Path | None) -> Gathered:
    """The files behind the names.

    Args:
        names: files, folders, or `-`.
        stdin: the file that holds what came on stdin, when `-` is among the names.
        output: the output folder; it is not taken for input when it lies inside a named folder.

    Raises:
        SettingsError: a name is not there, or nothing that could be read is.
    """
    found: list[Found] = []
    left_out: list[Path] = []
    for name in names:
        path = Path(name)
        if name == STDIN and stdin is not None:
            found.append(Found(stdin, "stdin", Source(PurePath(), "stdin")))
        elif path.is_dir():
            inside, others = _folder(path, output)
            found.extend(inside)
            left_out.extend(others)
        elif path.exists():
            found.append(Found(path, shown(path), Source(PurePath(), path.name)))
        else:
            raise SettingsError(f"{shown(path)}: no such file or folder")
    if not found:
        raise SettingsError(f"no PDF or image in {', '.join(shown(Path(name)) for name in names)}")
    return Gathered(_once(found), tuple(left_out))


def shown(path: PurePath) -> str:
    """A path as it can be printed: bytes that are no text and control characters are replaced."""
    text = os.fsencode(path).decode(errors="replace")
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _folder(folder: Path, output: Path | None) -> tuple[list[Found], list[Path]]:
    found: list[Found] = []
    left_out: list[Path] = []
    for path in _files(folder, output.resolve() if output else None):
        if path.suffix.lower() in SUFFIXES or _is_document(path):
            below = path.relative_to(folder)
            found.append(Found(path, shown(path), Source(below.parent, path.name)))
        else:
            left_out.append(path)
    return found, left_out


def _files(folder: Path, output: Path | None) -> Iterator[Path]:
    """Files below a folder in the order of their names; hidden ones are left alone, links to folders not followed."""
    for entry in sorted(folder.iterdir(), key=lambda entry: (entry.name.casefold(), entry.name)):
        if entry.name.startswith(".") or (output is not None and entry.resolve() == output):
            continue
        if entry.is_file():
            yield entry
        elif entry.is_dir() and not entry.is_symlink():
            yield from _files(entry, output)


def _is_document(path: Path) -> bool:
    try:
        media_type_of(path)
    except PageloomError:
        return False
    return True


def _once(found: Sequence[Found]) -> tuple[Found, ...]:
    """A file that was named twice (itself and its folder, say) is read once."""
    first: dict[Path, Found] = {}
    for entry in found:
        first.setdefault(entry.path.absolute(), entry)
    return tuple(first.values())
