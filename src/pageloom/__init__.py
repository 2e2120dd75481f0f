"""Pageloom: PDFs, scans and photos to structured documents.

    import pageloom
    doc = pageloom.parse("scan.pdf")
    print(doc.markdown())

Importing this package loads no heavy library; the names below load theirs when they are first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pageloom.errors import InputError, PageloomError
    from pageloom.library import Document, parse, stream
    from pageloom.model.document import FailedPage, Page, Verdict

_HOMES = {
    "Document": "pageloom.library",
    "FailedPage": "pageloom.model.document",
    "InputError": "pageloom.errors",
    "Page": "pageloom.model.document",
    "PageloomError": "pageloom.errors",
    "Verdict": "pageloom.model.document",
    "parse": "pageloom.library",
    "stream": "pageloom.library",
}

__all__ = ["Document", "FailedPage", "InputError", "Page", "PageloomError", "Verdict", "parse", "stream"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any of the public names
    if name not in _HOMES:
        raise AttributeError(f"module 'pageloom' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
