"""Kinds of documents by their bytes."""

import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from pageloom.contracts import SourceOptions
from pageloom.errors import DocumentTooLarge, EmptyDocument, UnsupportedFormat
from pageloom.sources.detect import factory_for, media_type, open_source


def encoded(kind: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "white").save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("PNG", "image/png"),
        ("JPEG", "image/jpeg"),
        ("WEBP", "image/webp"),
        ("GIF", "image/gif"),
        ("BMP", "image/bmp"),
        ("TIFF", "image/tiff"),
        ("PDF", "application/pdf"),
    ],
)
def test_kind_is_told_by_the_bytes(kind: str, expected: str) -> None:
    assert media_type(encoded(kind)) == expected


def test_heic_is_told_by_its_brand_and_avif_refused() -> None:
    heic = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"
    assert media_type(heic) == "image/heic"
    with pytest.raises(UnsupportedFormat, match="AVIF"):
        media_type(heic.replace(b"heic", b"avif", 1))


def test_pdf_behind_junk_is_a_pdf() -> None:
    assert media_type(b"HTTP/1.1 200 OK\r\n\r\n" + b"\n" * 3000 + b"%PDF-1.4\n") == "application/pdf"


def zipped(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "x")
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "seems"),
    [
        (b"Dear reader,\nthis is a letter.", "plain text"),
        ("Grüße".encode() * 100, "plain text"),
        (b"\xff\xfeD\x00e\x00", "UTF-16"),
        (b"<!DOCTYPE html><html><body>hi</body></html>", "HTML"),
        (b"<?xml version='1.0'?><svg xmlns='x'/>", "SVG"),
        (zipped("word/document.xml"), "DOCX"),
        (zipped("notes.txt"), "ZIP"),
        (b"{\\rtf1 hello}", "RTF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 50, "old Microsoft Office"),
        (b"\x01\x02\x03\x00\x9f\x8e" * 20, "unknown kind"),
        (b"RIFF\x10\x00\x00\x00WAVEfmt ", "sound"),
    ],
)
def test_refusal_says_what_the_file_seems_to_be(content: bytes, seems: str) -> None:
    with pytest.raises(UnsupportedFormat, match=seems):
        media_type(content)


def test_no_bytes_are_an_empty_document() -> None:
    with pytest.raises(EmptyDocument):
        media_type(b"")


def test_name_plays_no_part(tmp_path: Path) -> None:
    path = tmp_path / "invoice.pdf"
    path.write_bytes(encoded("PNG"))
    source = open_source(path)
    assert len(source.pages) == 1
    source.close()


def test_too_many_bytes_are_refused_with_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    path.write_bytes(encoded("PNG") + b"\x00" * 2000)
    with pytest.raises(DocumentTooLarge, match="max_megabytes"):
        open_source(path, options=SourceOptions(max_bytes=1000))


def test_kind_without_a_source_is_unsupported() -> None:
    with pytest.raises(UnsupportedFormat):
        factory_for("audio/ogg")
