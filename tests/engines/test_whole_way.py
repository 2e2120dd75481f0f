"""A PDF through the whole product, with a model server and with a script."""

import sys
from pathlib import Path

import pytest
from fpdf import FPDF

import pageloom

FAKE = Path(__file__).with_name("fake_vllm.py")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux")


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    """Three pages of print."""
    made = FPDF()
    made.set_font("helvetica", size=14)
    for number in (1, 2, 3):
        made.add_page()
        made.cell(text=f"Page {number} of the report on river gauges.")
    path = tmp_path / "report.pdf"
    made.output(str(path))
    return path


def test_a_document_is_read_by_a_managed_server(pdf: Path, tmp_path: Path) -> None:
    program = tmp_path / "vllm"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    program.chmod(0o755)
    options = {"model": str(tmp_path), "command": str(program), "canary": False, "gpus": 1}
    document = pageloom.parse(pdf, engine="vllm", settings={"engine": {"options": options}})
    assert [page.number for page in document.pages] == [1, 2, 3]
    assert all("every morning" in block.text for page in document.pages for block in page.blocks)  # type: ignore[union-attr]
    assert document.pages[0].engine is not None  # type: ignore[union-attr]
    assert document.pages[0].engine.model == "deepseek-ocr-2"  # type: ignore[union-attr]


def test_attempts_and_verdict_tell_what_happened(pdf: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text(
        '[[pages.2]]\nfails = "engine_dead"\n[[pages.2]]\ntext = "Page 2 of the report on river gauges."\n'
        '[[pages.3]]\ntext = "' + "round and round it goes, " * 500 + '"\n'
        '[[pages."*"]]\ntext = "Page one."\n'
    )
    document = pageloom.parse(pdf, engine="scripted", settings={"engine": {"options": {"file": str(script)}}})
    states = {page.number: page.verdict.state for page in document.pages}
    assert states[2] == "recovered"
    assert states[3] != "ok"
    assert [attempt.outcome for attempt in document.pages[1].attempts] == ["engine_dead", "stop"]
    assert len(document.pages[2].attempts) > 1
