"""A PDF file becomes an open PDFium document: passwords, repair where PDFium gives up, the real pages."""

import ctypes
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pypdfium2  # noqa: F401 - starts PDFium when imported
import pypdfium2.raw as pdfium

from pageloom.errors import DamagedDocument, DocumentTooLarge, EmptyDocument
from pageloom.model.document import Reason
from pageloom.sources.passwords import password_forms
from pageloom.sources.pdf_repair import (
    NO_PASSWORD,
    Rewritten,
    bytes_before_header,
    password_error,
    promised_pages,
    real_pages,
    rewrite,
    rewritten_with,
    user_units,
)

HEADER_REACH = 1024  # bytes before %PDF that PDFium itself skips
_BROKEN = (0.0, 0.0)
_OWNER = Reason(
    code="owner_password",
    text="the file carries an owner password; it opens without one, and its limits do not concern reading",
)


@dataclass(frozen=True, slots=True)
class OpenPdf:
    """A document open in PDFium.

    Attributes:
        handle: FPDF_DOCUMENT.
        sizes: width and height of every real page in points, as shown.
        remarks: what a reader of the result should know about the file.
        incomplete: numbers of pages of which parts are missing in a damaged file.
        content: bytes PDFium reads from, kept alive with the handle; None when it reads the file.
        form: the password's bytes that opened it; None when it opens without.
    """

    handle: Any
    sizes: tuple[tuple[float, float], ...]
    remarks: tuple[Reason, ...] = ()
    incomplete: frozenset[int] = frozenset()
    content: bytes | None = field(default=None, repr=False)
    form: bytes | None = field(default=None, repr=False)

    def close(self) -> None:
        """Close the document in PDFium; to be called once."""
        pdfium.FPDF_CloseDocument(self.handle)


def open_pdf(path: Path, password: str | None, max_pages: int) -> OpenPdf:
    """Open a PDF, decrypted and repaired as far as that is possible.

    Raises:
        DamagedDocument, EmptyDocument, PasswordRequired, PasswordWrong, DocumentTooLarge
    """
    forms = (NO_PASSWORD, *(password_forms(password) if password else ()))
    loaded, code = _load(path, forms)
    document = _believed(path, loaded, max_pages) if loaded is not None else None
    if document is None:
        document = _second_way(path, password, code, max_pages)
    if not document.sizes:
        document.close()
        raise EmptyDocument("the PDF has no pages")
    return _with_units(path, document)


def decrypted(path: Path, document: OpenPdf) -> bytes:
    """The document's bytes as another library can read them: repaired, and without encryption.

    Raises:
        DamagedDocument: it opens in PDFium only.
    """
    if document.form is None:
        return document.content or path.read_bytes()
    return rewritten_with(path, document.form)


def _believed(path: Path, loaded: OpenPdf, max_pages: int) -> OpenPdf | None:
    """The document as PDFium opened it, or None (and closed) when its page tree is not to be believed."""
    count = pdfium.FPDF_GetPageCount(loaded.handle)
    if count > 0 and _size(loaded.handle, count - 1) != _BROKEN:
        if count > max_pages:
            loaded.close()
            raise DocumentTooLarge(f"the PDF has {count} pages; at most {max_pages} are taken (limits.max_pages)")
        sizes = _page_sizes(loaded.handle, count)
        whole = pdfium.FPDF_DocumentHasValidCrossReferenceTable(loaded.handle)
        if _BROKEN not in sizes and whole:
            return replace(loaded, sizes=sizes)
        if _BROKEN not in sizes and real_pages(path) <= count:
            return replace(loaded, sizes=sizes, remarks=(*loaded.remarks, _repaired(count, promised_pages(path))))
    loaded.close()
    return None


def _second_way(path: Path, password: str | None, code: int, max_pages: int) -> OpenPdf:
    """Through pikepdf: for encryption that PDFium refuses, broken files, and page trees that lie."""
    locked = code == pdfium.FPDF_ERR_PASSWORD
    try:
        rewritten = rewrite(path, password, max_pages)
    except DamagedDocument as error:
        if locked:  # what is only damaged for qpdf is still locked
            raise password_error(password) from error
        raise
    loaded, _ = _load_bytes(rewritten.content, NO_PASSWORD)
    if loaded is None:
        raise DamagedDocument("the PDF is damaged; it could not be repaired")
    sizes = _page_sizes(loaded.handle, pdfium.FPDF_GetPageCount(loaded.handle))
    return replace(
        loaded,
        sizes=sizes,
        remarks=_remarks(path, rewritten, len(sizes), decrypted=locked),
        incomplete=rewritten.incomplete,
    )


def _remarks(path: Path, rewritten: Rewritten, pages: int, *, decrypted: bool) -> tuple[Reason, ...]:
    remarks = (_OWNER,) if rewritten.encrypted and rewritten.form == NO_PASSWORD else ()
    if decrypted and not rewritten.complaints:
        return remarks
    return (*remarks, _repaired(pages, promised_pages(path), len(rewritten.incomplete)))


def _repaired(pages: int, promised: int, incomplete: int = 0) -> Reason:
    words = [f"the file is damaged and was repaired: {pages} pages found"]
    if promised > pages:
        words.append(f"{promised - pages} pages lost")
    if incomplete:
        words.append(f"parts of {incomplete} of them lost")
    return Reason(code="repaired", text=", ".join(words))


def _with_units(path: Path, document: OpenPdf) -> OpenPdf:
    """Sizes with /UserUnit (ISO 32000-1 table 30), which PDFium leaves out."""
    units = user_units(path, document.form)
    if not units:
        return document
    sizes = tuple(
        (width * units.get(number, 1.0), height * units.get(number, 1.0))
        for number, (width, height) in enumerate(document.sizes, start=1)
    )
    return replace(document, sizes=sizes)


# --- PDFium's own calls -------------------------------------------------------------------------------------------


def _load(path: Path, forms: tuple[bytes, ...]) -> tuple[OpenPdf | None, int]:
    """The document opened with the first form that fits, or PDFium's error code."""
    skipped = bytes_before_header(path)
    content = path.read_bytes()[skipped:] if skipped > HEADER_REACH else None
    code = 0
    for form in forms:
        loaded, code = _load_file(path, form) if content is None else _load_bytes(content, form)
        if loaded is not None or code != pdfium.FPDF_ERR_PASSWORD:
            return loaded, code
    return None, code


def _load_file(path: Path, form: bytes) -> tuple[OpenPdf | None, int]:
    name = str(path).encode("utf-8", "surrogateescape") + b"\x00"
    return _loaded(pdfium.FPDF_LoadDocument(name, form + b"\x00"), None, form)


def _load_bytes(content: bytes, form: bytes) -> tuple[OpenPdf | None, int]:
    return _loaded(pdfium.FPDF_LoadMemDocument64(content, len(content), form + b"\x00"), content, form)


def _loaded(handle: Any, content: bytes | None, form: bytes) -> tuple[OpenPdf | None, int]:  # noqa: ANN401 - ctypes
    if not handle:
        return None, int(pdfium.FPDF_GetLastError())
    encrypted = pdfium.FPDF_GetSecurityHandlerRevision(handle) >= 0
    remarks = (_OWNER,) if encrypted and form == NO_PASSWORD else ()
    return OpenPdf(handle, (), remarks, content=content, form=form if encrypted else None), 0


def _size(handle: Any, index: int) -> tuple[float, float]:  # noqa: ANN401 - ctypes handle
    size = pdfium.FS_SIZEF()
    if not pdfium.FPDF_GetPageSizeByIndexF(handle, index, ctypes.byref(size)):
        return _BROKEN
    return float(size.width), float(size.height)


def _page_sizes(handle: Any, count: int) -> tuple[tuple[float, float], ...]:  # noqa: ANN401 - ctypes handle
    return tuple(_size(handle, index) for index in range(count))
