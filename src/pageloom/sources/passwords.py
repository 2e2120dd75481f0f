"""The byte strings that a typed password may have been turned into when a PDF was encrypted."""

import stringprep
import unicodedata

# PDFDocEncoding (ISO 32000-1 annex D.2) differs from Latin-1 here; the rest of Latin-1 is the same.
_PDF_DOC = {
    "\u02d8": 0x18, "\u02c7": 0x19, "\u02c6": 0x1A, "\u02d9": 0x1B, "\u02dd": 0x1C, "\u02db": 0x1D, "\u02da": 0x1E,
    "\u02dc": 0x1F, "\u2022": 0x80, "\u2020": 0x81, "\u2021": 0x82, "\u2026": 0x83, "\u2014": 0x84, "\u2013": 0x85,
    "\u0192": 0x86, "\u2044": 0x87, "\u2039": 0x88, "\u203a": 0x89, "\u2212": 0x8A, "\u2030": 0x8B, "\u201e": 0x8C,
    "\u201c": 0x8D, "\u201d": 0x8E, "\u2018": 0x8F, "\u2019": 0x90, "\u201a": 0x91, "\u2122": 0x92, "\ufb01": 0x93,
    "\ufb02": 0x94, "\u0141": 0x95, "\u0152": 0x96, "\u0160": 0x97, "\u0178": 0x98, "\u017d": 0x99, "\u0131": 0x9A,
    "\u0142": 0x9B, "\u0153": 0x9C, "\u0161": 0x9D, "\u017e": 0x9E, "\u20ac": 0xA0,
}  # fmt: skip


def password_forms(password: str) -> tuple[bytes, ...]:
    """Bytes to try for a password, the likeliest first, none twice.

    AES-256 asks for SASLprep and UTF-8 (ISO 32000-2, 7.6.4.3.3), but writers also pass the text on as typed;
    RC4 and AES-128 ask for PDFDocEncoding (7.6.4.3.2), in practice Latin-1, the Windows code page or UTF-8.
    """
    texts = (
        password,
        saslprep(password),
        unicodedata.normalize("NFC", password),
        unicodedata.normalize("NFD", password),
    )
    forms = [text.encode("utf-8", "surrogatepass") for text in texts]
    for text in texts:
        forms.extend(form for form in (_pdf_doc(text), _encoded(text, "cp1252"), _encoded(text, "gb18030")) if form)
    return tuple(dict.fromkeys(forms))


def saslprep(text: str) -> str:
    """RFC 4013 without its prohibitions: what must not be typed today may have been typed when it was encrypted."""
    mapped = "".join(
        " " if stringprep.in_table_c12(char) else "" if stringprep.in_table_b1(char) else char for char in text
    )
    return unicodedata.normalize("NFKC", mapped)


def _pdf_doc(text: str) -> bytes | None:
    codes = [_PDF_DOC.get(char, ord(char)) for char in text]
    return bytes(codes) if all(code < 256 for code in codes) else None


def _encoded(text: str, encoding: str) -> bytes | None:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return None
