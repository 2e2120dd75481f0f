"""What qpdf (through pikepdf) does for PDFs: decrypts what PDFium refuses, rebuilds broken files, counts real pages."""

import io
import mmap
import re
from dataclasses import dataclass
from pathlib import Path

import pikepdf

from pageloom.errors import (
    DamagedDocument,
    DocumentTooLarge,
    EmptyDocument,
    InputError,
    PasswordRequired,
    PasswordWrong,
)
from pageloom.sources.passwords import password_forms

NO_PASSWORD = b""
_HEAD_BYTES = 8192
_FOREIGN = (pikepdf.PdfError, RuntimeError, ValueError, TypeError, OverflowError)
MAX_USER_UNIT = 1000.0  # 14,400 units of 1000/72 inch are 5 km; more is a mistake


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A file that was decrypted and rebuilt by qpdf.

    Attributes:
        content: the new file.
        encrypted: whether the old one was.
        form: bytes of the password that opened it.
        complaints: qpdf's warnings about it.
        incomplete: numbers of pages whose content or images are missing.
    """

    content: bytes
    encrypted: bool
    form: bytes
    complaints: int
    incomplete: frozenset[int]


def rewrite(path: Path, password: str | None, max_pages: int) -> Rewritten:
    """Open a file with qpdf's recovery and write it anew, decrypted.

    Raises:
        DamagedDocument, EmptyDocument, PasswordRequired, PasswordWrong, DocumentTooLarge
    """
    document, form = _opened(path, password)
    with document:
        try:
            count = len(document.pages)
            if count == 0:
                raise EmptyDocument("the PDF has no pages")
            if count > max_pages:
                raise DocumentTooLarge(f"the PDF has {count} pages; at most {max_pages} are taken (limits.max_pages)")
            incomplete = frozenset(
                number for number, page in enumerate(document.pages, start=1) if _lacks_parts(page.obj)
            )
            complaints = len(document.get_warnings())  # saving adds some about streams that are read anyhow
            out = io.BytesIO()
            document.save(out, object_stream_mode=pikepdf.ObjectStreamMode.disable, encryption=False)
            return Rewritten(out.getvalue(), document.is_encrypted, form, complaints, incomplete)
        except _FOREIGN as error:
            raise _damaged(error) from error


def rewritten_with(path: Path, form: bytes) -> bytes:
    """A whole, encrypted file without its encryption.

    Raises:
        DamagedDocument: qpdf cannot read it with this password's bytes.
    """
    out = io.BytesIO()
    try:
        with pikepdf.open(path, password=form, suppress_warnings=True) as document:
            document.save(out, encryption=False)
    except (pikepdf.PasswordError, *_FOREIGN) as error:
        raise _damaged(error) from error
    return out.getvalue()


def password_error(password: str | None) -> InputError:
    """Locked without a password, or with a wrong one; the two are never mixed up."""
    if password:
        return PasswordWrong("the password does not open this PDF")
    return PasswordRequired("the PDF is encrypted; it needs a password")


def real_pages(path: Path) -> int:
    """Pages that qpdf finds; 0 when it finds none or the file is locked."""
    try:
        with pikepdf.open(path, suppress_warnings=True) as document:
            return len(document.pages)
    except (pikepdf.PasswordError, *_FOREIGN):
        return 0


def promised_pages(path: Path) -> int:
    """Pages a damaged file once had: the larger of its page objects and its believable /Count, as far as not packed."""
    content = path.read_bytes()
    objects = len(re.findall(rb"/Type\s*/Page(?![a-zA-Z])", content))
    counts = (int(number) for number in re.findall(rb"/Count\s+(\d{1,6})\b", content))
    # The smallest page object has some 40 bytes; a /Count that leaves each page fewer is a lie.
    return max([objects, *(count for count in counts if count * 40 <= len(content))])


def user_units(path: Path, form: bytes | None) -> dict[int, float]:
    """/UserUnit by page number, of the pages that have one other than 1.

    Args:
        path: of the file.
        form: bytes of the password that opens it, or None.
    """
    if not _may_hold(path, b"/UserUnit"):
        return {}
    try:
        with pikepdf.open(path, password=form or b"", suppress_warnings=True) as document:
            units = {number: page.obj.get("/UserUnit", 1) for number, page in enumerate(document.pages, start=1)}
            return {
                number: float(unit) for number, unit in units.items() if unit != 1 and 0 < float(unit) <= MAX_USER_UNIT
            }
    except (pikepdf.PasswordError, *_FOREIGN):  # what qpdf cannot read keeps PDFium's sizes
        return {}


def bytes_before_header(path: Path) -> int:
    """How many bytes of junk stand before %PDF-."""
    with path.open("rb") as file:
        return max(0, file.read(_HEAD_BYTES).find(b"%PDF-"))


def _may_hold(path: Path, name: bytes) -> bool:
    """Whether a dictionary key may occur in a file; packed object streams may hold anything."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(name) >= 0 or content.find(b"/ObjStm") >= 0


def _opened(path: Path, password: str | None) -> tuple[pikepdf.Pdf, bytes]:
    content: Path | io.BytesIO = path
    if skipped := bytes_before_header(path):
        content = io.BytesIO(path.read_bytes()[skipped:])
    for form in (NO_PASSWORD, *(password_forms(password) if password else ())):
        try:
            document = pikepdf.open(content, password=form, suppress_warnings=True)
            # Writers that were given no owner password leave it empty: a formality that must not unlock the file.
            if form != NO_PASSWORD or not document.is_encrypted or document.user_password_matched:
                return document, form
            document.close()
        except pikepdf.PasswordError:
            continue
        except _FOREIGN as error:
            raise _damaged(error) from error
    raise password_error(password)


def _lacks_parts(page: pikepdf.Dictionary) -> bool:
    """Whether a page names content or images that are not in the file."""
    # items() also lists the keys whose objects are not in the file; keys() and "in" do not.
    if any(name == "/Contents" and value is None for name, value in page.items()):
        return True
    resources = page.get("/Resources")
    drawn = resources.get("/XObject") if isinstance(resources, pikepdf.Dictionary) else None
    return isinstance(drawn, pikepdf.Dictionary) and any(value is None for _, value in drawn.items())


def _damaged(error: Exception) -> DamagedDocument:
    """A message without the file's place: qpdf begins its own with the whole path."""
    words = str(error).rsplit(": ", 1)[-1].strip()
    return DamagedDocument(f"the PDF is damaged beyond repair ({words[:120] or type(error).__name__})")
