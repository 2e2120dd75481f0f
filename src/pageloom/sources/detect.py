"""What kind of document the bytes are, told by magic number and never by the name; and the way to its source."""

import re
from pathlib import Path

from pageloom import plugins
from pageloom.contracts import PageSource, SourceFactory, SourceOptions
from pageloom.errors import DamagedDocument, DocumentTooLarge, EmptyDocument, UnsupportedFormat

HEAD_BYTES = 8192  # enough for a PDF header behind junk; ISO 32000-1 H.3 note 13 allows 1024 bytes of it

_PDF_HEADER = re.compile(rb"%PDF-\d")
_PREFIXES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"II+\x00", "image/tiff"),
    (b"MM\x00+", "image/tiff"),
)
# Brands of ISO base media files that libheif decodes as HEIC; AVIF is not one of them (its decoder is not bundled).
_HEIC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})
_AVIF_BRANDS = frozenset({b"avif", b"avis"})

# What a refused file seems to be: prefix, words for the message.
_REFUSED: tuple[tuple[bytes, str], ...] = (
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"PK\x07\x08", "a split ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Microsoft Office file (DOC, XLS, PPT or MSG)"),
    (b"{\\rtf", "a rich text (RTF) file"),
    (b"%!PS", "a PostScript file"),
    (b"AT&TFORM", "a DjVu file"),
    (b"8BPS", "a Photoshop (PSD) file"),
    (b"\x00\x00\x01\x00", "an icon (ICO) file"),
    (b"\xff\x0a", "a JPEG XL image"),
    (b"\x00\x00\x00\x0cJXL ", "a JPEG XL image"),
    (b"\x00\x00\x00\x0cjP  ", "a JPEG 2000 image"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 codestream"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a Windows program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"ID3", "a sound file (MP3)"),
    (b"RIFF", "a sound or video file (RIFF)"),
    (b"OggS", "a sound or video file (Ogg)"),
)
_ZIP_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"word/", "a Word document (DOCX)"),
    (b"xl/", "a spreadsheet (XLSX)"),
    (b"ppt/", "a presentation (PPTX)"),
    (b"application/epub+zip", "an e-book (EPUB)"),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file"),
)
_READ = "Pageloom reads PDF, PNG, JPEG, WebP, GIF, BMP, TIFF and HEIC"


def media_type(head: bytes) -> str:
    """Media type of a document from its first bytes (`HEAD_BYTES` of them, or all when there are fewer).

    Returns:
        `application/pdf` or `image/...`; the name of the file plays no part.

    Raises:
        EmptyDocument: there are no bytes.
        UnsupportedFormat: no kind that is read here; the message says what it seems to be.
    """
    if not head:
        raise EmptyDocument("the file has no bytes")
    kind = _known(head)
    if kind is None:
        raise UnsupportedFormat(f"this seems to be {_seems(head)}; {_READ}")
    return kind


def media_type_of(path: Path) -> str:
    """Media type of a file; see `media_type`."""
    try:
        with path.open("rb") as file:
            return media_type(file.read(HEAD_BYTES))
    except OSError as error:
        raise DamagedDocument(f"the file cannot be read: {error.strerror}") from error


def factory_for(kind: str) -> SourceFactory:
    """The installed source that opens a media type.

    Raises:
        UnsupportedFormat: none does.
    """
    ours = {"application/pdf": "pdf"}.get(kind, "image" if kind.startswith("image/") else "")
    for name in sorted(plugins.names("sources"), key=lambda name: (name != ours, name)):
        factory: SourceFactory = plugins.load("sources", name)
        if kind in factory.media_types:
            return factory
    raise UnsupportedFormat(f"no installed source opens {kind}")


def open_source(path: Path, password: str | None = None, options: SourceOptions | None = None) -> PageSource:
    """Open a document of any kind that is read here; the caller closes it.

    Raises:
        UnsupportedFormat, EmptyDocument, DamagedDocument, DocumentTooLarge, PasswordRequired, PasswordWrong,
        MissingExtra
    """
    limits = options or SourceOptions()
    kind = media_type_of(path)
    size_bytes = path.stat().st_size
    if size_bytes > limits.max_bytes:
        raise DocumentTooLarge(
            f"the file has {size_bytes / 1e6:.1f} MB; at most {limits.max_bytes / 1e6:g} MB are taken "
            "(limits.max_megabytes)"
        )
    return factory_for(kind).open(path, password, limits)


def _known(head: bytes) -> str | None:
    for prefix, kind in _PREFIXES:
        if head.startswith(prefix):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[:2] == b"BM" and len(head) >= 26 and head[6:10] == b"\x00\x00\x00\x00":
        return "image/bmp"
    if head[4:8] == b"ftyp":
        return _heic(head)
    # Mail gateways and web servers leave their own lines before the header.
    return "application/pdf" if _PDF_HEADER.search(head) else None


def _heic(head: bytes) -> str | None:
    length = min(int.from_bytes(head[:4], "big"), len(head))
    brands = {head[8:12], *(head[at : at + 4] for at in range(16, length, 4))}
    if head[8:12] in _AVIF_BRANDS or not brands & _HEIC_BRANDS:
        return None
    return "image/heic"


def _seems(head: bytes) -> str:
    if head.startswith(b"PK\x03\x04"):
        return next((words for mark, words in _ZIP_KINDS if mark in head), "a ZIP archive")
    if head[4:8] == b"ftyp":
        return "an AVIF image" if head[8:12] in _AVIF_BRANDS else "a video file (MP4 family)"
    for prefix, words in _REFUSED:
        if head.startswith(prefix):
            return words
    return _seems_text(head)


def _seems_text(head: bytes) -> str:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:512].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "an HTML page"
    if start.startswith(b"<?xml") or start.startswith(b"<svg"):
        return "an SVG drawing" if b"<svg" in head.lower() else "an XML file"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "plain text (UTF-16)"
    if b"\x00" in head:
        return "a file of an unknown kind"
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:  # else only the last character is cut
            return "a file of an unknown kind"
    return "plain text"
