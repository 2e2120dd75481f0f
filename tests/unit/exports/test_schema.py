"""What is written is what the published schema says."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pageloom.exports.schema import SCHEMA_FILE, schema
from pageloom.library import Document
from pageloom.model.blocks import (
    Cell,
    Confidence,
    Edit,
    Figure,
    Formula,
    Heading,
    Line,
    ListItem,
    Paragraph,
    Table,
    Word,
)
from pageloom.model.document import Attempt, DocumentHead, EngineName, FailedPage, Page, Reason, Route, Verdict
from pageloom.model.geometry import Box, PageSize, Region

ROOT = Path(__file__).resolve().parents[3]
BOX = Box(0.1, 0.2, 0.9, 0.3)
REGION = Region(1, BOX)
LINE = Line("p1-b1-l1", "a line", 1, BOX, Confidence(0.97, "recogniser"), (Word("a", BOX, 0.9), Word("line", BOX)))


@pytest.fixture(scope="module")
def published() -> Draft202012Validator:
    text = (ROOT / "docs" / "schema" / SCHEMA_FILE).read_text(encoding="utf-8")
    made: dict[str, Any] = json.loads(text)
    Draft202012Validator.check_schema(made)
    return Draft202012Validator(made)


def document() -> Document:
    cell = Cell(id="p1-b2-r1c1", row=0, column=0, text="1", header=True, regions=(REGION,), lines=(LINE,))
    edit = Edit(by="me", at="2026-11-30T12:00:00Z", before="pargraph")
    blocks = (
        Heading(id="p1-b1", regions=(REGION,), text="a line", level=2, lines=(LINE,)),
        Table(id="p1-b2", regions=(REGION,), order=1, rows=1, columns=1, cells=(cell,)),
        Paragraph(
            id="p1-b3", regions=(REGION, Region(2, BOX)), order=2, text="paragraph", edited=edit, notes=("joined",)
        ),
        ListItem(id="p1-b4", regions=(REGION,), order=3, text="item", marker="•", depth=1),
        Formula(id="p1-b5", regions=(REGION,), order=4, text="x", latex="x", asset="p1-b5.png"),
        Figure(id="p1-b6", regions=(REGION,), order=5, asset="p1-b6.jpg"),
    )
    page = Page(
        number=1,
        size=PageSize(595, 842),
        blocks=blocks,
        verdict=Verdict(state="suspect", reasons=(Reason(code="low_score", text="mean 0.71"),)),
        route=Route(name="ocr", measured={"glyphs": 0.0}),
        engine=EngineName(name="onnx", version="1", model="PP-OCRv6"),
        attempts=(Attempt(rung="ocr", engine="onnx", outcome="stop", seconds=1.5),),
        turned=90,
        skew=-1.2,
        continued=("p1-b3",),
    )
    head = DocumentHead(name="x.pdf", sha256="00", page_count=2, engine=EngineName(name="onnx"), made_by="pageloom")
    return Document(head, (page, FailedPage(number=2, code="render_timeout", reason="page 2 took too long")))


def test_a_full_document_is_valid(published: Draft202012Validator) -> None:
    written = json.loads(document().json())
    assert [error.message for error in published.iter_errors(written)] == []
    assert len(written["pages"]) == 2


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("pages", 0, "blocks", 0, "kind"), "poem"),
        (("pages", 0, "blocks", 0, "level"), 9),
        (("pages", 0, "verdict", "state"), "great"),
        (("schema_version",), "2.0"),
        (("surprise",), 1),
    ],
)
def test_what_is_no_document_is_not(
    published: Draft202012Validator, place: tuple[str | int, ...], value: object
) -> None:
    written = json.loads(document().json())
    held = written
    for key in place[:-1]:
        held = held[key]
    held[place[-1]] = value
    assert not published.is_valid(written)


def test_a_document_survives_its_json(tmp_path: Path) -> None:
    before = document()
    before.save(tmp_path)
    after = Document.load(tmp_path / "x.json")
    assert after.pages == before.pages
    assert after.head == before.head


def test_every_block_kind_is_in_the_schema() -> None:
    assert {"Seal", "Signature", "Chart", "Code", "Reference", "RunningHeader"} <= set(schema()["$defs"])


def test_the_published_files_are_current() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "schema"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
