"""A PDF file becomes an open PDFium document: passwords, and repair where PDFium gives up."""

import ctypes
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pikepdf
import pypdfium2  # noqa: F401 - starts PDFium when imported
import pypdfium2.raw as pdfium

from pageloom.errors import (
    DamagedDocument,
    DocumentTooLarge,
    EmptyDocument,
    InputError,
    PasswordRequired,
    PasswordWrong,
)
from pageloom.model.document import Reason
from pageloom.sources.passwords import password_forms

HEADER_REACH = 1024  # bytes before %PDF that PDFium itself skips


@dataclass(slots=True)
class OpenPdf:
    """A document open in PDFium.

    Attributes:
        handle: FPDF_DOCUMENT.
        sizes: width and height in PDFium's points of every real page, (0, 0) where a page is broken.
        remarks: what a reader of the result should know about the file.
        content: bytes PDFium reads from, kept alive with the handle; None when it reads the file.
    """

    handle: Any
    sizes: tuple[tuple[float, float], ...]
    remarks: tuple[Reason, ...] = ()
    content: bytes | None = None

    def close(self) -> None:
        """Close the document in PDFium; a second call does nothing."""
        if self.handle is not None:
            pdfium.FPDF_CloseDocument(self.handle)
            self.handle = None
            self.content = None


@dataclass(frozen=True, slots=True)
class _Rewritten:
    """A file that was decrypted and repaired by pikepdf."""

    content: bytes
    encrypted: bool
    complaints: int


def open_pdf(path: Path, password: str | None, max_pages: int) -> OpenPdf:
    """Open a PDF, decrypted and repaired as far as that is possible.

    Raises:
        DamagedDocument, EmptyDocument, PasswordRequired, PasswordWrong, DocumentTooLarge
    """
    forms = password_forms(password) if password else ()
    handle, code = _load_file(path, forms)
    document = None
    if handle is not None:
        document = _checked(path, handle, max_pages)
    if document is None:
        document = _second_way(path, password, code, max_pages)
    if not document.sizes:
        document.close()
        raise EmptyDocument("the PDF has no pages")
    if len(document.sizes) > max_pages:
        count = len(document.sizes)
        document.close()
        raise DocumentTooLarge(f"the PDF has {count} pages; at most {max_pages} are taken (limits.max_pages)")
    return document


def _checked(path: Path, handle: Any, max_pages: int) -> OpenPdf | None:  # noqa: ANN401 - ctypes handle
    """The document as PDFium opened it, or None when its page tree is not to be believed."""
    owner = _owner_remark() if pdfium.FPDF_GetSecurityHandlerRevision(handle) >= 0 else ()
    count = pdfium.FPDF_GetPageCount(handle)
    sizes = _page_sizes(handle, count) if 0 < count <= max_pages and _size(handle, count - 1) != (0.0, 0.0) else None
    valid = bool(pdfium.FPDF_DocumentHasValidCrossReferenceTable(handle))
    if sizes is not None and valid and (0.0, 0.0) not in sizes:
        return OpenPdf(handle, sizes, owner)
    if sizes is not None and (0.0, 0.0) not in sizes and _real_pages(path) <= len(sizes):
        return OpenPdf(handle, sizes, (*owner, _repaired(len(sizes), _promised(path))))
    pdfium.FPDF_CloseDocument(handle)
    return None


def _second_way(path: Path, password: str | None, code: int, max_pages: int) -> OpenPdf:
    """Through pikepdf: for encryption that PDFium refuses, broken files, and page trees that lie."""
    locked = code == pdfium.FPDF_ERR_PASSWORD
    try:
        rewritten = _rewrite(path, password, max_pages)
    except InputError as error:
        if locked and isinstance(error, DamagedDocument):
            raise _password_error(password) from error
        raise
    handle, _ = _load_bytes(rewritten.content)
    if handle is None:
        raise DamagedDocument("the PDF is damaged; it could not be repaired")
    sizes = _page_sizes(handle, pdfium.FPDF_GetPageCount(handle))
    remarks = _owner_remark() if rewritten.encrypted and not password else ()
    if not locked or rewritten.complaints:
        remarks = (*remarks, _repaired(len(sizes), _promised(path)))
    return OpenPdf(handle, sizes, remarks, rewritten.content)


def _rewrite(path: Path, password: str | None, max_pages: int) -> _Rewritten:
    forms = password_forms(password) if password else ()
    document = _open_pikepdf(path, (b"", *forms), password)
    with document:
        try:
            count = len(document.pages)
            if count == 0:
                raise EmptyDocument("the PDF has no pages")
            if count > max_pages:
                raise DocumentTooLarge(f"the PDF has {count} pages; at most {max_pages} are taken (limits.max_pages)")
            encrypted = document.is_encrypted
            out = io.BytesIO()
            document.save(out, encryption=False, object_stream_mode=pikepdf.ObjectStreamMode.disable)
            return _Rewritten(out.getvalue(), encrypted, len(document.get_warnings()))
        except (pikepdf.PdfError, RuntimeError, ValueError) as error:
            raise DamagedDocument(_why(error)) from error


def _open_pikepdf(path: Path, forms: tuple[bytes, ...], password: str | None) -> pikepdf.Pdf:
    content: Path | io.BytesIO = path
    skipped = _bytes_before_header(path)
    if skipped > HEADER_REACH:
        content = io.BytesIO(path.read_bytes()[skipped:])
    for form in forms:
        try:
            return pikepdf.open(content, password=form, suppress_warnings=True)
        except pikepdf.PasswordError:
            continue
        except (pikepdf.PdfError, RuntimeError, ValueError) as error:
            raise DamagedDocument(_why(error)) from error
    raise _password_error(password)


def _password_error(password: str | None) -> InputError:
    if password:
        return PasswordWrong("the password does not open this PDF")
    return PasswordRequired("the PDF is encrypted; it needs a password")


def _why(error: Exception) -> str:
    """A message without the file's place: qpdf begins its own with the full path."""
    words = str(error).rsplit(": ", 1)[-1].strip()
    return f"the PDF is damaged beyond repair ({words or type(error).__name__})"


def _owner_remark() -> tuple[Reason, ...]:
    text = "the file carries an owner password; it opens without one, and its limits do not concern reading"
    return (Reason(code="owner_password", text=text),)


def _repaired(pages: int, promised: int) -> Reason:
    lost = max(0, promised - pages)
    if lost:
        return Reason(code="repaired", text=f"the file is damaged: {pages} pages recovered, {lost} pages lost")
    return Reason(code="repaired", text=f"the file was damaged and has been repaired; {pages} pages recovered")


def _promised(path: Path) -> int:
    """Pages the damaged file once had: the larger of its page objects and a believable /Count; plain objects only."""
    content = path.read_bytes()
    objects = len(re.findall(rb"/Type\s*/Page(?![a-zA-Z])", content))
    counts = [int(number) for number in re.findall(rb"/Count\s+(\d{1,6})\b", content)]
    # A /Count larger than one page object in each ten bytes cannot be true.
    return max([objects, *(count for count in counts if count * 10 <= len(content))])


def _real_pages(path: Path) -> int:
    """Pages that qpdf finds in a file whose cross-reference table PDFium had to rebuild; 0 when it finds none."""
    try:
        with pikepdf.open(path, suppress_warnings=True) as document:
            return len(document.pages)
    except (pikepdf.PdfError, RuntimeError, ValueError):
        return 0


def _bytes_before_header(path: Path) -> int:
    with path.open("rb") as file:
        return max(0, file.read(HEADER_REACH * 8).find(b"%PDF-"))


# --- PDFium's own calls -------------------------------------------------------------------------------------------


def _load_file(path: Path, forms: tuple[bytes, ...]) -> tuple[Any, int]:
    name = str(path).encode("utf-8", "surrogateescape") + b"\x00"
    code = pdfium.FPDF_ERR_UNKNOWN
    for form in (None, *forms):
        handle = pdfium.FPDF_LoadDocument(name, form if form is None else form + b"\x00")
        if handle:
            return handle, 0
        code = pdfium.FPDF_GetLastError()
        if code != pdfium.FPDF_ERR_PASSWORD:
            break
    return None, code


def _load_bytes(content: bytes) -> tuple[Any, int]:
    handle = pdfium.FPDF_LoadMemDocument64(content, len(content), None)
    return (handle, 0) if handle else (None, pdfium.FPDF_GetLastError())


def _size(handle: Any, index: int) -> tuple[float, float]:  # noqa: ANN401 - ctypes handle
    size = pdfium.FS_SIZEF()
    if not pdfium.FPDF_GetPageSizeByIndexF(handle, index, ctypes.byref(size)):
        return 0.0, 0.0
    return float(size.width), float(size.height)


def _page_sizes(handle: Any, count: int) -> tuple[tuple[float, float], ...]:  # noqa: ANN401 - ctypes handle
    return tuple(_size(handle, index) for index in range(count))
