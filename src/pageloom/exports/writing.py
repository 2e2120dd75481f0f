"""What all exporters share: one file written page by page, and text that no format chokes on."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from pageloom.contracts import Bundle, ExportOptions, OutputFile
from pageloom.model.blocks import Block, Caption, Furniture
from pageloom.model.document import AnyPage, PagedDocument
from pageloom.model.extraction import Extraction

# Characters that XML 1.0 forbids or terminals obey; U+FFFE is PDFium's mark for a hyphen at a line's end.
FORBIDDEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")


class OneFile(ABC):
    """An exporter of one file, whose chunks are made while the pages are walked once.

    Attributes:
        suffix: of the file, where it is not `.NAME`.
    """

    name: ClassVar[str]
    media_type: ClassVar[str]
    suffix: ClassVar[str] = ""

    def export(
        self,
        document: PagedDocument,
        options: ExportOptions,
        extraction: Extraction | None = None,  # noqa: ARG002 - the door's shape; fields have their own exporters
    ) -> Bundle:
        """One file; nothing is walked or made before its chunks are asked for."""
        return Bundle((OutputFile(self.suffix or f".{self.name}", self.chunks(document, options)),))

    @abstractmethod
    def chunks(self, document: PagedDocument, options: ExportOptions) -> Iterator[bytes]:
        """The file's bytes, one page in memory at a time."""


def clean(text: str) -> str:
    r"""Text that every format can carry: line breaks are `\n`, control characters and half characters are gone."""
    return FORBIDDEN.sub("", BREAKS.sub("\n", text))


def one_line(text: str) -> str:
    """Cleaned text with every run of white space as one blank."""
    return " ".join(clean(text).split())


def shown(page: AnyPage, *, headers: bool) -> tuple[Block, ...]:
    """Blocks of a page in reading order, without running headers, footers and page numbers unless wished."""
    if headers:
        return page.blocks
    return tuple(block for block in page.blocks if not isinstance(block, Furniture))


def captions(page: AnyPage) -> dict[str, str]:
    """First caption's text by the id of the block it belongs to."""
    found: dict[str, str] = {}
    for block in page.blocks:
        if isinstance(block, Caption) and block.parent:
            found.setdefault(block.parent, block.text)
    return found


def failure(page: AnyPage) -> str:
    """The sentence that stands in place of a page that failed: `page 3 failed: no content stream`."""
    reasons = [reason.text or reason.code for reason in page.verdict.reasons]
    return one_line(f"page {page.number} failed: {'; '.join(reasons) or 'no reason given'}")
