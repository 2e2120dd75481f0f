"""Passwords, damage, real pages."""

import re
from collections.abc import Callable
from pathlib import Path

import pikepdf
import pytest

from pageloom.contracts import SourceOptions
from pageloom.errors import (
    DamagedDocument,
    DocumentTooLarge,
    EmptyDocument,
    InputError,
    PageNotFound,
    PasswordRequired,
    PasswordWrong,
)
from pageloom.sources.passwords import password_forms, saslprep
from pageloom.sources.pdf import FACTORY, PdfSource

Make = Callable[..., Path]


def words(text: str) -> str:
    return f"BT /F1 12 Tf 50 200 Td ({text}) Tj ET"


def opened(path: Path, password: str | None = None, **options: object) -> PdfSource:
    return FACTORY.open(path, password, SourceOptions.model_validate(options))


def text_of(source: PdfSource, number: int = 1) -> str:
    text = source.draw(number, None).text
    assert text is not None
    return "\n".join(line.text for line in text.lines)


def locked(user: str, revision: int, *, owner: str = "owner") -> dict[str, object]:
    aes = revision >= 4
    return {"encryption": pikepdf.Encryption(owner=owner, user=user, R=revision, aes=aes, metadata=aes)}


@pytest.mark.parametrize("revision", [2, 3, 4, 6])
def test_every_encryption_opens_with_its_password_only(pdf: Make, revision: int) -> None:
    path = pdf(words("Secret"), **locked("open me", revision))
    with pytest.raises(PasswordRequired):
        opened(path)
    with pytest.raises(PasswordWrong) as wrong:
        opened(path, "guess")
    assert "guess" not in str(wrong.value)
    assert str(path.parent) not in str(wrong.value)
    source = opened(path, "open me")
    assert text_of(source) == "Secret"
    assert [remark.code for remark in source.remarks] == []
    source.close()


def test_empty_owner_password_unlocks_nothing(pdf: Make) -> None:
    path = pdf(words("Secret"), **locked("open me", 6, owner=""))
    with pytest.raises(PasswordRequired):
        opened(path)
    with pytest.raises(PasswordWrong):
        opened(path, "guess")
    assert text_of(opened(path, "open me")) == "Secret"


def test_owner_password_opens_as_well(pdf: Make) -> None:
    assert text_of(opened(pdf(words("Secret"), **locked("u", 6, owner="boss")), "boss")) == "Secret"


@pytest.mark.parametrize("password", [None, "not needed"])
def test_owner_only_opens_without_asking_and_says_so(pdf: Make, password: str | None) -> None:
    source = opened(pdf(words("Free"), **locked("", 4)), password)
    assert text_of(source) == "Free"
    assert [remark.code for remark in source.remarks] == ["owner_password"]


def test_password_of_an_open_file_is_not_needed(pdf: Make) -> None:
    source = opened(pdf(words("Open")), "anything")
    assert (text_of(source), list(source.remarks)) == ("Open", [])


@pytest.mark.parametrize("typed", ["Pässwörd", "Pa\u0308sswo\u0308rd", "Ｐässwörd", "Päss\u00adwörd"])
def test_unicode_password_opens_in_every_spelling(pdf: Make, typed: str) -> None:
    path = pdf(words("Umlaut"), **locked("Pässwörd", 6))
    assert text_of(opened(path, typed)) == "Umlaut"


def test_saslprep_maps_spaces_and_compatibility_forms() -> None:
    assert saslprep("I\u00adX\u2168\u00a0a") == "IXIX a"  # RFC 4013, section 3


def test_forms_hold_the_encodings_of_older_writers() -> None:
    forms = password_forms("Straße €")
    assert "Straße €".encode() in forms
    assert b"Stra\xdfe \xa0" in forms  # PDFDocEncoding
    assert b"Stra\xdfe \x80" in forms  # Windows
    assert len(set(forms)) == len(forms)


def test_damage_is_not_taken_for_a_password(tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.4\n%%EOF\n")
    with pytest.raises(DamagedDocument) as damaged:
        opened(path, "something")
    assert str(tmp_path) not in str(damaged.value)


def test_locked_and_damaged_file_still_asks_for_its_password(pdf: Make) -> None:
    path = pdf(words("Secret"), **locked("open me", 4))
    path.write_bytes(re.sub(rb"startxref\s+\d+", b"startxref\n1", path.read_bytes()))
    with pytest.raises(PasswordRequired):
        opened(path)
    with pytest.raises(PasswordWrong):
        opened(path, "guess")
    assert text_of(opened(path, "open me")) == "Secret"


def test_wrong_xref_is_repaired_and_said(pdf: Make) -> None:
    path = pdf(words("Found"))
    path.write_bytes(re.sub(rb"startxref\s+\d+", b"startxref\n99999", path.read_bytes()))
    source = opened(path)
    assert text_of(source) == "Found"
    assert [remark.code for remark in source.remarks] == ["repaired"]


def test_truncated_file_keeps_what_is_there_and_names_the_losses(pdf: Make) -> None:
    path = pdf(
        *(words(f"Page {number}") for number in range(1, 7)), object_stream_mode=pikepdf.ObjectStreamMode.disable
    )
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex(b"stream", 0, len(content) * 8 // 10) - 60])
    source = opened(path)
    assert text_of(source) == "Page 1"
    remark = source.remarks[0]
    assert remark.code == "repaired"
    assert "lost" in remark.text
    lost = 0
    for page in source.pages:
        try:
            assert text_of(source, page.number) == f"Page {page.number}"
        except DamagedDocument:
            lost += 1
    assert lost


@pytest.mark.parametrize("length", [30, 1500, 5000])
def test_junk_before_the_header_is_skipped(pdf: Make, length: int) -> None:
    path = pdf(words("Behind"))
    path.write_bytes(b"X-Header: mail\r\n" + b"j" * length + b"\n" + path.read_bytes())
    assert text_of(opened(path)) == "Behind"


def test_count_that_lies_is_not_believed(pdf: Make) -> None:
    path = pdf(words("Only"), object_stream_mode=pikepdf.ObjectStreamMode.disable)
    content = path.read_bytes()
    assert b"/Count 1 " in content
    path.write_bytes(content.replace(b"/Count 1 ", b"/Count 999999 "))
    source = opened(path)
    assert len(source.pages) == 1
    assert text_of(source) == "Only"


def raw(*objects: str) -> bytes:
    body = b"%PDF-1.4\n"
    places = []
    for number, words_ in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{words_}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\n"
    return body + end.encode() + f"startxref\n{len(body)}\n%%EOF\n".encode()


@pytest.mark.timeout(20)
def test_page_tree_that_points_to_itself_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "loop.pdf"
    path.write_bytes(raw("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R]/Count 1>>"))
    with pytest.raises(DamagedDocument):
        opened(path)


def test_no_pages_are_an_empty_document(tmp_path: Path) -> None:
    path = tmp_path / "none.pdf"
    path.write_bytes(raw("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>"))
    with pytest.raises(EmptyDocument):
        opened(path)


def test_too_many_pages_are_refused_with_the_limit(pdf: Make) -> None:
    with pytest.raises(DocumentTooLarge, match="max_pages"):
        opened(pdf(*["" for _ in range(5)]), max_pages=4)


def test_page_outside_the_document_is_not_found(pdf: Make) -> None:
    source = opened(pdf(words("One")))
    for number in (0, 2):
        with pytest.raises(PageNotFound):
            source.draw(number, None)


def test_page_without_contents_is_blank_not_damaged(tmp_path: Path) -> None:
    path = tmp_path / "bare.pdf"
    pages = "<</Type/Pages/Kids[3 0 R]/Count 1>>"
    path.write_bytes(raw("<</Type/Catalog/Pages 2 0 R>>", pages, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>"))
    text = opened(path).draw(1, None).text
    assert text is not None
    assert not text.has_content


def test_closing_twice_is_harmless(pdf: Make) -> None:
    source = opened(pdf(words("x")))
    source.close()
    source.close()


def test_no_message_holds_a_path(tmp_path: Path) -> None:
    for name, content in {"a.pdf": b"%PDF-1.7\n", "b.pdf": b"%PDF-1.7\n" + b"\x00" * 900}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError) as error:
            opened(tmp_path / name)
        assert str(tmp_path) not in str(error.value)
        assert name not in str(error.value)
