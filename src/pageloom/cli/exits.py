"""Exit codes of the command line: one row for every error code (a test demands it)."""

from collections.abc import Iterable
from enum import IntEnum

from pageloom.errors import PageloomError


class Exit(IntEnum):
    """What a run of `pageloom` ended with."""

    DONE = 0
    FAULT = 1
    USAGE = 2
    SOME_FAILED = 3
    ALL_REFUSED = 4
    ENGINE_MISSING = 5
    INTERRUPTED = 130


MEANINGS: dict[Exit, str] = {
    Exit.DONE: "done; suspect pages are warned of on stderr",
    Exit.FAULT: "a fault of Pageloom's own, or of the disk it writes to",
    Exit.USAGE: "the command line or a setting is wrong, or an output is there already",
    Exit.SOME_FAILED: "some pages or inputs failed; with --strict also: some pages are suspect",
    Exit.ALL_REFUSED: "every input was refused: unsupported, damaged, empty, locked, too large",
    Exit.ENGINE_MISSING: "an engine, its models or an optional part is missing",
    Exit.INTERRUPTED: "interrupted; finished pages are written, --resume does the rest",
}

EXITS: dict[str, Exit] = {
    "error": Exit.FAULT,
    "internal": Exit.SOME_FAILED,
    "input_error": Exit.ALL_REFUSED,
    "unsupported_format": Exit.ALL_REFUSED,
    "damaged_document": Exit.ALL_REFUSED,
    "empty_document": Exit.ALL_REFUSED,
    "password_required": Exit.ALL_REFUSED,
    "password_wrong": Exit.ALL_REFUSED,
    "document_too_large": Exit.ALL_REFUSED,
    "page_not_found": Exit.ALL_REFUSED,
    "language_unsupported": Exit.ENGINE_MISSING,
    "page_error": Exit.SOME_FAILED,
    "render_timeout": Exit.SOME_FAILED,
    "render_crashed": Exit.SOME_FAILED,
    "unreadable": Exit.SOME_FAILED,
    "engine_error": Exit.ENGINE_MISSING,
    "engine_unavailable": Exit.ENGINE_MISSING,
    "engine_timeout": Exit.SOME_FAILED,
    "engine_dead": Exit.SOME_FAILED,
    "models_missing": Exit.ENGINE_MISSING,
    "recognition_error": Exit.SOME_FAILED,
    "truncated_text": Exit.SOME_FAILED,
    "repeated_text": Exit.SOME_FAILED,
    "malformed_grounding": Exit.SOME_FAILED,
    "queue_full": Exit.SOME_FAILED,
    "export_error": Exit.FAULT,
    "output_exists": Exit.USAGE,
    "settings_error": Exit.USAGE,
    "missing_extra": Exit.ENGINE_MISSING,
    "unknown_plugin": Exit.USAGE,
}


def exit_of(error: PageloomError) -> Exit:
    """The exit code of a command that ended with this error; a plugin's own error counts as a fault."""
    return EXITS.get(error.code, Exit.FAULT)


def exit_of_refusals(codes: Iterable[str]) -> Exit:
    """The exit code of a run whose every input was refused: theirs where they agree, else `ALL_REFUSED`."""
    found = {EXITS.get(code, Exit.FAULT) for code in codes}
    return found.pop() if len(found) == 1 else Exit.ALL_REFUSED
