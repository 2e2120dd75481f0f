"""Names of outputs: OUT/NAME.md and its like, so that no input ever writes over what another one wrote."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from pageloom.errors import SettingsError

# ext4, APFS and NTFS take 255 bytes (or UTF-16 units) in a name; room is left for ".assets", a format, a counter.
MAX_NAME_BYTES = 230
FOLDERS = (".assets", ".pages", ".tables")
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}")
# Control characters break terminals; the rest is refused by Windows, where outputs are looked at too.
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*\ud800-\udfff\ufffd]')
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")


@dataclass(frozen=True, slots=True)
class Source:
    """What a name is made from: the folder below OUT that is kept, and the input's own name with its suffix."""

    folder: PurePath
    name: str


def stems(sources: Sequence[Source], files: Iterable[str]) -> tuple[PurePath, ...]:
    """A path below OUT for each source, to which suffixes such as `.md` are added; no two outputs meet.

    The name is the input's without its suffix; inputs that would share it (case and Unicode form aside, as some file
    systems do) keep their suffix; those that still would, are counted.

    Args:
        sources: in the order given by the user; the order decides who is counted.
        files: endings of the files that will be written, such as ".md".
    """
    endings = (*FOLDERS, *files)
    folders = {_key(folder) for source in sources for folder in _ancestors(safe_folder(source.folder))}
    taken = [safe_folder(source.folder) / safe_name(without_suffix(source.name)) for source in sources]
    whole = [safe_folder(source.folder) / safe_name(source.name) for source in sources]
    met = _shared(taken)
    taken = [
        full if _key(path) in met or _is_folder(path, endings, folders) else path
        for path, full in zip(taken, whole, strict=True)
    ]
    # `x.pdf` and `x.png` have become x.pdf and x.png; an input `x.pdf.png` then meets the first.
    met = _shared(taken)
    taken = [full if _key(path) in met else path for path, full in zip(taken, whole, strict=True)]
    return _counted(taken, endings, folders)


def without_suffix(name: str) -> str:
    """A file's name without its suffix; the ".2" of `report v1.2` is none."""
    stem, dot, _ = name.rpartition(".")
    return stem if stem and _SUFFIX.fullmatch(name[len(stem) :]) and dot else name


def safe_name(name: str) -> str:
    """A name that every file system takes: no control characters, not too long, never `..`."""
    clean = _UNSAFE.sub("_", unicodedata.normalize("NFC", name)).rstrip(" .")
    if _RESERVED.fullmatch(clean) or not clean.strip("."):
        clean = f"_{clean}"
    raw = clean.encode()
    if len(raw) <= MAX_NAME_BYTES:
        return clean
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{raw[: MAX_NAME_BYTES - 9].decode(errors='ignore')}~{mark}"


def safe_folder(folder: PurePath) -> PurePath:
    """A relative folder whose every part is a safe name."""
    return PurePath(*(safe_name(part) for part in folder.parts if part not in {"", "."}))


def document_name(text: str) -> str:
    """The name given with --join.

    Raises:
        SettingsError: it is empty or holds a folder.
    """
    if not text.strip() or "/" in text or "\\" in text:
        raise SettingsError(f"--join {text!r}: a plain name is expected, without folders")
    return text


def _key(path: PurePath) -> str:
    return unicodedata.normalize("NFC", path.as_posix()).casefold()


def _ancestors(folder: PurePath) -> tuple[PurePath, ...]:
    return (folder, *folder.parents)


def _shared(paths: Iterable[PurePath]) -> set[str]:
    """Keys that more than one path has."""
    return {key for key, times in Counter(map(_key, paths)).items() if times > 1}


def _is_folder(path: PurePath, endings: tuple[str, ...], folders: set[str]) -> bool:
    """Whether a folder of another input has the name of one of this path's outputs."""
    return any(_key(path) + ending in folders for ending in endings)


def _counted(paths: Sequence[PurePath], endings: tuple[str, ...], folders: set[str]) -> tuple[PurePath, ...]:
    seen: set[str] = set()
    result = []
    for path in paths:
        free, count = path, 1
        while _key(free) in seen or _is_folder(free, endings, folders):
            count += 1
            free = path.with_name(f"{path.name}-{count}")
        seen.add(_key(free))
        result.append(free)
    return tuple(result)
