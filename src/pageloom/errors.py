"""Every error Pageloom raises, as one tree.

PageloomError
  InputError          the caller's file: UnsupportedFormat, DamagedDocument, EmptyDocument, PasswordRequired,
                      PasswordWrong, DocumentTooLarge, PageNotFound, LanguageUnsupported
  PageError           one page could not be had: RenderTimeout, RenderCrashed, UnreadablePage
  EngineError         an engine could not be asked: EngineUnavailable, EngineTimeout, EngineDead, ModelsMissing
  RecognitionError    an engine answered, but not with a page: TruncatedText, RepeatedText, MalformedGrounding
  QueueFull, ExportError, OutputExists, SettingsError, MissingExtra, UnknownPlugin, Interrupted

Errors know nothing of HTTP or exit codes: `cli/exits.py` (and later `api/problems.py`) hold one table each.
"""

from typing import Any, ClassVar


class PageloomError(Exception):
    """Base of all our errors; `code` is stable and documented, `retryable`: the same call may succeed later."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    attempts: tuple[Any, ...] = ()
    """Tries at a page that ended with this error (`model.document.Attempt`), where there were several."""


class InputError(PageloomError):
    """The caller's file cannot be read as given."""

    code = "input_error"


class UnsupportedFormat(InputError):
    """The bytes are of no kind that is read here."""

    code = "unsupported_format"


class DamagedDocument(InputError):
    """The file is of a known kind but broken beyond repair."""

    code = "damaged_document"


class EmptyDocument(InputError):
    """No bytes, or a document without pages."""

    code = "empty_document"


class PasswordRequired(InputError):
    """The document is encrypted and no password was given."""

    code = "password_required"


class PasswordWrong(InputError):
    """The document is encrypted and the given password does not open it."""

    code = "password_wrong"


class DocumentTooLarge(InputError):
    """More bytes, pages or pixels than the settings allow."""

    code = "document_too_large"


class PageNotFound(InputError):
    """A page range names pages that the document does not have."""

    code = "page_not_found"


class LanguageUnsupported(InputError):
    """No installed recogniser reads this language."""

    code = "language_unsupported"


class PageError(PageloomError):
    """One page could not be had; the rest of the document goes on."""

    code = "page_error"


class RenderTimeout(PageError):
    """Opening or drawing a page took longer than its limit."""

    code = "render_timeout"
    retryable = True


class RenderCrashed(PageError):
    """The child process that drew the page died (crash, memory or CPU limit)."""

    code = "render_crashed"
    retryable = True


class UnreadablePage(PageError):
    """The page is too poor to read: contrast, blur or size."""

    code = "unreadable"


class EngineError(PageloomError):
    """An engine could not be asked."""

    code = "engine_error"


class EngineUnavailable(EngineError):
    """The engine is not there now."""

    code = "engine_unavailable"
    retryable = True


class EngineTimeout(EngineError):
    """The engine made no progress within its limit."""

    code = "engine_timeout"
    retryable = True


class EngineDead(EngineError):
    """The engine has died; its pages must be read by a new one."""

    code = "engine_dead"


class ModelsMissing(EngineError):
    """The model files of an engine are not on this machine."""

    code = "models_missing"


class RecognitionError(PageloomError):
    """An engine answered, but its answer is not a page."""

    code = "recognition_error"


class TruncatedText(RecognitionError):
    """The answer was cut at the token limit."""

    code = "truncated_text"


class RepeatedText(RecognitionError):
    """The answer ran into a repetition loop and was cut."""

    code = "repeated_text"


class MalformedGrounding(RecognitionError):
    """The answer's place marks could not be read."""

    code = "malformed_grounding"


class QueueFull(PageloomError):
    """No further job is taken now."""

    code = "queue_full"
    retryable = True


class ExportError(PageloomError):
    """A document could not be written in a format."""

    code = "export_error"


class OutputExists(ExportError):
    """The output file exists and is not ours to overwrite (`--force`)."""

    code = "output_exists"


class SettingsError(PageloomError):
    """A setting is unknown or has no valid value."""

    code = "settings_error"


class MissingExtra(PageloomError):
    """A part of Pageloom that is not installed; the message names the extra."""

    code = "missing_extra"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed: pip install 'pageloom[{extra}]'")


class UnknownPlugin(PageloomError):
    """No source, engine, dialect or exporter of that name is installed."""

    code = "unknown_plugin"
