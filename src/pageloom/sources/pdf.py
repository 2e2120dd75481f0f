"""PDFs: opened, drawn to target pixels and read by their text layer, page by page.

PDFium draws always. Which library reads the text layer is a choice (`pdf.backend`): PDFium itself, pdfplumber, or
PyMuPDF (AGPL-3.0, an optional extra). PDFium is not thread safe: one process draws one page at a time.
"""

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, assert_never

import numpy as np
import pypdfium2.raw as pdfium

from pageloom.contracts import SourceOptions
from pageloom.errors import DamagedDocument, PageloomError, PageNotFound
from pageloom.model.document import Reason
from pageloom.model.geometry import PageSize
from pageloom.model.image import DrawnPage, PageImage, PageInfo, PageText, Target
from pageloom.sources.pdf_open import OpenPdf, decrypted, open_pdf
from pageloom.sources.pdf_text import PdfiumText
from pageloom.sources.pixels import drawn_size, has_colour, is_flat

if TYPE_CHECKING:
    from pageloom.model.image import Pixels

# Kinds of annotation that are part of what is printed; links, notes and markup are not.
_PRINTED_ANNOTATIONS = frozenset({pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP})


TEXT_LEVELS = 7  # of 255: text that stands out less cannot be read, and the page must not pass for blank


class TextReader(Protocol):
    """A library that reads the text layer of an open document."""

    def read(self, number: int, page: Any, size: PageSize) -> PageText:  # noqa: ANN401 - ctypes handle
        """Text layer of a page; `page` is its FPDF_PAGE, `size` its size in points as shown."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


class PdfSource:
    """An open PDF.

    Attributes:
        pages: numbers and sizes of the real pages.
        remarks: codes `repaired`, `owner_password`.
    """

    def __init__(self, document: OpenPdf, reader: TextReader, options: SourceOptions) -> None:
        self._document = document
        self._reader = reader
        self._closed = False
        self._max_pixels = options.max_pixels
        self.pages: Sequence[PageInfo] = tuple(
            PageInfo(number, PageSize(width, height)) for number, (width, height) in enumerate(document.sizes, start=1)
        )
        self.remarks: Sequence[Reason] = document.remarks

    def draw(self, number: int, target: Target | None) -> DrawnPage:
        """Draw a page and read its text layer; pixels are never more than `max_pixels`, whatever the page's size.

        Raises:
            DamagedDocument: the page cannot be loaded.
            PageNotFound: there is no such page.
        """
        if not 1 <= number <= len(self.pages):
            raise PageNotFound(f"page {number}: the document has {len(self.pages)} pages")
        info = self.pages[number - 1]
        with self._page(number) as page:
            if min(info.size.width, info.size.height) <= 0:
                raise DamagedDocument(f"page {number}: its size cannot be told")
            text = self._reader.read(number, page, info.size)
            notes = self._losses(number, text)
            if target is None:
                return DrawnPage(info, None, text, notes=notes)
            width, height, dpi = drawn_size(info.size, target, self._max_pixels)
            rgb = draw_pixels(page, width, height)
        image = PageImage(number, info.size, rgb, dpi, colour=has_colour(rgb))
        # PDFium draws nothing, and says nothing, where an image is too large for it or broken.
        if text.has_content and is_flat(rgb, TEXT_LEVELS if any(line.seen for line in text.lines) else 2):
            notes = (*notes, "render_suspect_blank")
        return DrawnPage(info, image, text, notes=notes)

    def close(self) -> None:
        """Close the document; a second call does nothing."""
        if not self._closed:
            self._closed = True
            self._reader.close()
            self._document.close()

    def _losses(self, number: int, text: PageText) -> tuple[str, ...]:
        """A page of a damaged file that lacks parts is never passed off as whole, or as blank."""
        if number not in self._document.incomplete:
            return ()
        if not text.has_content:
            raise DamagedDocument(f"page {number}: its content is missing in the damaged file")
        return ("content_lost",)

    @contextmanager
    def _page(self, number: int) -> Iterator[Any]:
        page = pdfium.FPDF_LoadPage(self._document.handle, number - 1)
        if page and _flattened(page):
            pdfium.FPDF_ClosePage(page)
            page = pdfium.FPDF_LoadPage(self._document.handle, number - 1)
        if not page:
            raise DamagedDocument(f"page {number}: its page object is broken")
        try:
            yield page
        finally:
            pdfium.FPDF_ClosePage(page)


def draw_pixels(page: Any, width: int, height: int) -> "Pixels":  # noqa: ANN401 - ctypes handle
    """Pixels of a page as shown, on white, annotations included.

    Args:
        page: FPDF_PAGE.
        width: pixels.
        height: pixels.

    Returns:
        uint8 [height, width, 3], sRGB.
    """
    stride = -(-width * 3 // 4) * 4
    rows = np.full((height, stride), 255, np.uint8)
    bitmap = pdfium.FPDFBitmap_CreateEx(
        width, height, pdfium.FPDFBitmap_BGR, rows.ctypes.data_as(ctypes.c_void_p), stride
    )
    if not bitmap:
        raise DamagedDocument(f"a page of {width} x {height} pixels cannot be drawn")
    try:
        flags = pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
    return np.ascontiguousarray(rows[:, : width * 3].reshape(height, width, 3))


def _flattened(page: Any) -> bool:  # noqa: ANN401 - ctypes handle
    """Make filled form fields and stamps part of the page, so that their words are in the text layer too."""
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), 10_000)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        pdfium.FPDFPage_CloseAnnot(annotation)
        if kind in _PRINTED_ANNOTATIONS:
            return bool(pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS)
    return False


def _reader(path: Path, document: OpenPdf, options: SourceOptions) -> TextReader:
    """The chosen reader of text layers; the others are not imported.

    Raises:
        MissingExtra: PyMuPDF was chosen and is not installed.
    """
    match options.pdf_backend:
        case "pdfium":
            return PdfiumText()
        case "pdfplumber":
            from pageloom.sources.pdf_plumber import PlumberText

            return PlumberText(decrypted(path, document))
        case "pymupdf":
            from pageloom.sources.pdf_mupdf import MupdfText

            return MupdfText(decrypted(path, document))
        case other:
            assert_never(other)


class PdfFactory:
    """Opens PDFs."""

    media_types: ClassVar[frozenset[str]] = frozenset({"application/pdf"})

    def open(self, path: Path, password: str | None, options: SourceOptions) -> PdfSource:
        """Open a PDF.

        Raises:
            DamagedDocument, EmptyDocument, PasswordRequired, PasswordWrong, DocumentTooLarge, MissingExtra
        """
        document = open_pdf(path, password, options.max_pages)
        try:
            return PdfSource(document, _reader(path, document, options), options)
        except PageloomError:
            document.close()
            raise


FACTORY = PdfFactory()
