"""One suite over every installed exporter: whatever a document holds, its files are whole and harmless."""

import io
import json
import unicodedata
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from lxml import etree, html
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.golden.documents import Made, documents

from pageloom.contracts import Exporter, ExportOptions
from pageloom.model.blocks import Block, Formula, ListItem, Table
from pageloom.plugins import load, names

OWN_TAGS = ("<table>", "</table>", "<tr>", "</tr>", "<td", "</td>", "<th", "</th>", "<br>", "<!-- page ")
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def exporter(name: str) -> Exporter:
    found: Exporter = load("exporters", name)
    return found


def written(name: str, document: Made, **options: bool) -> dict[str, bytes]:
    bundle = exporter(name).export(document, ExportOptions(**options))
    return {file.name: b"".join(file.chunks) for file in bundle.files}


def document_file(name: str, document: Made, **options: bool) -> bytes:
    return next(iter(written(name, document, **options).values()))


def letters(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKC", text) if sign.isalnum())


def words_of(block: Block) -> list[str]:
    if isinstance(block, Table):
        return [cell.text for cell in block.cells]
    marker = [block.marker] if isinstance(block, ListItem) and not block.marker.strip("1234567890.)•") else []
    return [*marker, "" if isinstance(block, Formula) else block.text]


@pytest.mark.parametrize("name", names("exporters"))
@given(document=documents())
@quick
def test_it_writes_any_document_the_same_way_twice(name: str, document: Made) -> None:
    first = written(name, document, headers=True, page_marks=True)
    assert first == written(name, document, headers=True, page_marks=True)
    assert all(file.startswith(".") and "/.." not in file for file in first)


@pytest.mark.parametrize("name", names("exporters"))
def test_it_writes_an_empty_document(name: str) -> None:
    assert len(written(name, Made(()))) >= 1


@given(document=documents())
@quick
def test_json_is_json_and_keeps_every_word(document: Made) -> None:
    held = json.loads(document_file("json", document))
    assert [page["number"] for page in held["pages"]] == [page.number for page in document.pages]
    told = [
        [cell["text"] for cell in block["cells"]] if block["kind"] == "table" else block["text"]
        for page in held["pages"]
        for block in page.get("blocks", [])
    ]
    assert told == [
        [cell.text for cell in block.cells] if isinstance(block, Table) else block.text
        for page in document.pages
        for block in page.blocks
    ]


@given(document=documents())
@quick
def test_markdown_holds_no_markup_but_ours(document: Made) -> None:
    text = document_file("md", document, headers=True, page_marks=True).decode()
    parsed = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    flat = [token for outer in parsed for token in (outer, *(outer.children or ()))]
    assert not [token for token in flat if token.type in {"link_open", "s_open", "code_inline", "hr"}]
    # Formulas are between dollars, where a star or underscore is mathematics.
    assert not [token for token in flat if token.type == "inline" and "$" not in token.content and emphasised(token)]
    for token in flat:
        if token.type in {"html_block", "html_inline"}:
            assert token.content.startswith(OWN_TAGS)
            assert "<script" not in token.content.lower()
        if token.type == "image":
            assert str(token.attrs["src"]).startswith("assets/")
            assert "/../" not in str(token.attrs["src"])


def emphasised(token: Token) -> bool:
    return any(child.type in {"em_open", "strong_open"} for child in token.children or ())


@given(document=documents())
@quick
def test_markdown_shows_every_word(document: Made) -> None:
    text = document_file("md", document, headers=True).decode()
    shown = letters(visible(text))
    for page in document.pages:
        for block in page.blocks:
            for words in words_of(block):
                plain = words.replace("\\(", "").replace("\\)", "")
                assert all(letters(word) in shown for word in plain.split())


def visible(text: str) -> str:
    """What a reader of rendered Markdown sees, alternative texts of pictures included."""
    made = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)
    tree = html.fromstring(f"<div>{made}</div>")
    return " ".join([*tree.itertext(), *(str(picture.get("alt")) for picture in tree.iter("img"))])


@given(document=documents())
@quick
def test_text_keeps_every_word(document: Made) -> None:
    shown = letters(document_file("txt", document, headers=True).decode())
    for page in document.pages:
        for block in page.blocks:
            assert all(letters(word) in shown for words in words_of(block) for word in words.split())


@given(document=documents())
@quick
def test_html_runs_and_fetches_nothing(document: Made) -> None:
    text = document_file("html", document, headers=True).decode()
    assert "<script" not in text.lower()
    tree = html.document_fromstring(text)
    for element in tree.iter(etree.Element):
        assert not [name for name in element.attrib if str(name).startswith("on") or name == "href"]
        assert element.tag != "img" or str(element.get("src")).startswith("data:image/")


@given(document=documents())
@quick
def test_xml_is_well_formed_and_tells_the_structure(document: Made) -> None:
    root = etree.fromstring(document_file("xml", document))
    assert [page.get("number") for page in root.iter("page")] != [] or not list(document.pages)
    told = [element.tag for page in root.iter("page") for element in page if element.tag != "reason"]
    assert told == [block.kind for page in document.pages for block in page.blocks]


@given(document=documents())
@quick
def test_tables_hold_no_formula(document: Made) -> None:
    for body in written("csv", document).values():
        rows = body.decode("utf-8-sig").splitlines()
        assert not [row for row in rows if row.startswith(("=", "@", "\t"))]
    book = zipfile.ZipFile(io.BytesIO(document_file("xlsx", document)))
    assert not [name for name in book.namelist() if b"<f>" in book.read(name)]


@given(document=documents())
@quick
def test_chunks_are_lines_of_json_with_their_places(document: Made) -> None:
    pieces = [json.loads(line) for line in document_file("chunks", document).splitlines()]
    known = {block.id for page in document.pages for block in page.blocks}
    assert all(set(piece["blocks"]) <= known and piece["text"] for piece in pieces)
    assert len({piece["id"] for piece in pieces}) == len(pieces)
