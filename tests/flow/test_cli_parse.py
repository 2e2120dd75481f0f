"""`pageloom parse` from the first to the last step, on small documents, with the native and the scripted engine."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fpdf import FPDF
from fpdf.enums import EncryptionMethod

from pageloom.cli.main import main

PARAGRAPH = '[[pages."*"]]\nblocks = [{ kind = "paragraph", text = "told by a script", box = [0.1, 0.1, 0.9, 0.2] }]\n'


def write_pdf(path: Path, *pages: str, password: str | None = None) -> Path:
    pdf = FPDF()
    if password:
        pdf.set_encryption(
            owner_password=f"{password}!", user_password=password, encryption_method=EncryptionMethod.AES_256
        )
    pdf.set_font("helvetica", size=14)
    for words in pages or ("The only page of a letter that says very little.",):
        pdf.add_page()
        pdf.cell(text=words)
    path.parent.mkdir(parents=True, exist_ok=True)
    pdf.output(str(path))
    return path


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGELOOM_ENGINE", "native")
    monkeypatch.setenv("PAGELOOM_WORKERS__DECODE", "1")
    monkeypatch.setenv("PAGELOOM_WORKERS__READ", "1")


@pytest.fixture
def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Take the scripted engine, with this script, and without the CPU engine's help for pages that it spoils."""
    monkeypatch.setenv("PAGELOOM_MODELS__FOLDER", str(tmp_path / "no models"))

    def take(script: str) -> None:
        (tmp_path / "script.toml").write_text(script)
        monkeypatch.setenv("PAGELOOM_ENGINE", "scripted")
        monkeypatch.setenv("PAGELOOM_ENGINE__OPTIONS__FILE", str(tmp_path / "script.toml"))

    return take


def summary(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_file_becomes_markdown_json_and_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pdf(tmp_path / "letter.pdf")
    assert main(["parse", "letter.pdf"]) == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["letter.json", "letter.md", "letter.txt"]
    assert "says very little" in Path("out/letter.md").read_text()
    told = capsys.readouterr()
    assert told.out == ""
    assert "letter.pdf: 1 page: 1 ok -> out/letter.md" in told.err


def test_the_summary_for_machines_tells_engine_verdicts_and_outputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pdf(tmp_path / "letter.pdf", "first page of a letter", "second page of a letter")
    assert main(["parse", "letter.pdf", "--json", "--pages", "2"]) == 0
    told = summary(capsys)
    assert told["engine"]["name"] == "native"
    assert told["engine_reason"]
    assert told["exit"] == 0
    assert told["seconds"] >= told["seconds_to_first_page"] > 0
    [entry] = told["inputs"]
    assert (entry["status"], entry["page_count"], entry["verdicts"]["ok"]) == ("done", 2, 1)
    assert [page["page"] for page in entry["pages"]] == [2]
    assert entry["outputs"][0] == "out/letter.md"


def test_a_folder_with_bad_files_finishes_and_lists_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(4):
        write_pdf(tmp_path / "in" / "sub" / f"{number}.pdf")
    (tmp_path / "in" / "empty.pdf").write_bytes(b"")
    (tmp_path / "in" / "words.pdf").write_bytes(b"no PDF at all")
    write_pdf(tmp_path / "in" / "locked.pdf", password="sesame")
    assert main(["parse", "in"]) == 3
    assert len(list(Path("out/sub").glob("*.md"))) == 4
    err = capsys.readouterr().err
    end = err[err.index("not read:") :]
    assert all(code in end for code in ("empty_document", "unsupported_format", "password_required"))
    assert "7 inputs: 3 refused, 4 done" in err.replace("4 done, 3 refused", "3 refused, 4 done")


def test_only_refused_inputs_end_with_4(tmp_path: Path) -> None:
    (tmp_path / "words.pdf").write_bytes(b"no PDF at all")
    assert main(["parse", "words.pdf"]) == 4
    assert not Path("out").exists()


def test_the_right_password_opens_and_no_word_of_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pdf(tmp_path / "locked.pdf", password="sesame")
    assert main(["parse", "locked.pdf", "--password", "wrong-one", "--json"]) == 4
    told = capsys.readouterr()
    assert "password_wrong" in told.out
    assert main(["parse", "locked.pdf", "--password", "sesame", "--json"]) == 0
    again = capsys.readouterr()
    results = "".join(path.read_text() for path in Path("out").iterdir())
    assert not [
        word for word in ("wrong-one", "sesame") if word in told.out + told.err + again.out + again.err + results
    ]


def test_a_person_is_asked_for_a_password_and_may_err(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pdf(tmp_path / "locked.pdf", password="sesame")
    answers = iter(["wrong", "sesame"])
    monkeypatch.setattr("pageloom.cli.carry_out.on_terminal", lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda *_, **__: next(answers))
    assert main(["parse", "locked.pdf"]) == 0
    assert next(answers, "none left") == "none left"


def test_what_is_there_is_left_alone_unless_told_otherwise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pdf(tmp_path / "letter.pdf")
    Path("out").mkdir()
    Path("out/letter.md").write_text("my own notes")
    assert main(["parse", "letter.pdf"]) == 2
    assert "output_exists" in capsys.readouterr().err
    assert main(["parse", "letter.pdf", "--resume"]) == 2
    assert Path("out/letter.md").read_text() == "my own notes"
    assert main(["parse", "letter.pdf", "--force"]) == 0
    assert "says very little" in Path("out/letter.md").read_text()


def test_two_inputs_of_one_name_do_not_meet(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a" / "x.pdf", "words of the first letter")
    write_pdf(tmp_path / "b" / "x.pdf", "words of the second letter")
    assert main(["parse", "a/x.pdf", "b/x.pdf"]) == 0
    assert "first" in Path("out/x.pdf.md").read_text()
    assert "second" in Path("out/x.pdf-2.md").read_text()


def test_all_inputs_become_one_document_in_their_order(tmp_path: Path) -> None:
    write_pdf(tmp_path / "b.pdf", "words of the beginning")
    write_pdf(tmp_path / "a.pdf", "words of the end")
    assert main(["parse", "b.pdf", "a.pdf", "--join", "both"]) == 0
    text = Path("out/both.md").read_text()
    assert text.index("beginning") < text.index("end")
    assert json.loads(Path("out/both.json").read_text())["page_count"] == 2
    assert main(["parse", "b.pdf", "a.pdf", "--join", "both", "--resume"]) == 0


def test_stdin_goes_in_and_one_format_comes_out(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_pdf(tmp_path / "letter.pdf")
    stdin = SimpleNamespace(buffer=io.BytesIO(path.read_bytes()), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["parse", "-", "-o", "-", "--format", "txt", "--quiet"]) == 0
    told = capfdbinary.readouterr()
    assert b"says very little" in told.out
    assert told.err == b""
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["letter.pdf", "none.pdf"], "none.pdf"),
        (["letter.pdf", "--format", "doc"], "no exporter named 'doc'"),
        (["letter.pdf", "--pages", "0"], "page range"),
        (["letter.pdf", "--resume", "--force"], "--resume"),
        (["letter.pdf", "-o", "-", "--json"], "--json"),
        (["letter.pdf", "-o", "-", "--format", "md,txt"], "one format"),
        (["letter.pdf", "b.pdf", "-o", "-"], "--join"),
        (["letter.pdf", "--set", "read.dip=3"], "read.dpi"),
        (["letter.pdf", "--set", "read.dpi"], "NAME=VALUE"),
        (["letter.pdf", "--engine", "none"], "no engine named"),
        (["letter.pdf", "--join", "a/b"], "plain name"),
        (["letter.pdf", "-o", "b.pdf/results"], "cannot be written"),
        (["letter.pdf", "--nonsense"], "--nonsense"),
        ([], "FILE"),
    ],
)
def test_a_wrong_command_line_is_told_and_does_nothing(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pdf(tmp_path / "letter.pdf")
    write_pdf(tmp_path / "b.pdf")
    assert main(["parse", *words]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err
    assert not Path("out").exists()


def test_a_disk_that_refuses_one_document_costs_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pdf(tmp_path / "in" / "a" / "bad.pdf")
    write_pdf(tmp_path / "in" / "good.pdf")
    Path("out").mkdir()
    Path("out/a").write_text("a file where a folder is needed")
    assert main(["parse", "in", "--json"]) == 3
    told = capsys.readouterr()
    assert [entry["status"] for entry in json.loads(told.out)["inputs"]] == ["refused", "done"]
    assert "export_error" in told.err
    assert "Traceback" not in told.err


def test_missing_models_name_the_command_that_brings_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pdf(tmp_path / "letter.pdf")
    words = ["parse", "letter.pdf", "--engine", "onnx", "--set", f"models.folder={tmp_path / 'none'}"]
    assert main(words) == 5
    assert "pageloom models fetch" in capsys.readouterr().err


def test_failed_pages_keep_their_place_and_resume_reads_only_them(
    tmp_path: Path, scripted: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    write_pdf(tmp_path / "three.pdf", "one", "two", "three")
    scripted('[[pages.2]]\nfails = "engine_timeout"\n' + PARAGRAPH)
    assert main(["parse", "three.pdf", "--json"]) == 3
    entry = summary(capsys)["inputs"][0]
    assert (entry["status"], entry["verdicts"]["failed"]) == ("partial", 1)
    assert [page["verdict"] for page in entry["pages"]][1] == "failed"
    scripted('[[pages.2]]\nblocks = [{ kind = "paragraph", text = "told at last", box = [0.1, 0.1, 0.9, 0.2] }]\n')
    assert main(["parse", "three.pdf", "--json", "--resume"]) == 0
    assert summary(capsys)["verdicts"]["failed"] == 0
    text = Path("out/three.md").read_text()
    assert "told at last" in text
    # pages 1 and 3 were not read again: this script has no words for them
    assert text.count("told by a script") == 2


def test_a_finished_document_is_not_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pdf(tmp_path / "letter.pdf")
    assert main(["parse", "letter.pdf"]) == 0
    before = Path("out/letter.json").stat().st_mtime_ns
    capsys.readouterr()
    assert main(["parse", "letter.pdf", "--resume", "--json"]) == 0
    told = summary(capsys)
    assert told["inputs"][0]["status"] == "already done"
    assert told["engine"] == {}
    assert Path("out/letter.json").stat().st_mtime_ns == before


def test_resume_adds_a_missing_format_without_reading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pdf(tmp_path / "letter.pdf")
    assert main(["parse", "letter.pdf"]) == 0
    Path("out/letter.md").unlink()
    capsys.readouterr()
    assert main(["parse", "letter.pdf", "--resume", "--json"]) == 0
    assert summary(capsys)["engine"] == {}
    assert "says very little" in Path("out/letter.md").read_text()


def test_a_format_whose_file_has_another_ending_is_found_again(tmp_path: Path) -> None:
    write_pdf(tmp_path / "letter.pdf")
    words = ["parse", "letter.pdf", "--format", "chunks,json"]
    assert main(words) == 0
    assert Path("out/letter.chunks.jsonl").exists()
    assert main(words) == 2
    Path("out/letter.json").unlink()
    assert main([*words[:-1], "chunks"]) == 2


def test_resume_leaves_another_files_results_alone(tmp_path: Path) -> None:
    write_pdf(tmp_path / "letter.pdf")
    assert main(["parse", "letter.pdf"]) == 0
    write_pdf(tmp_path / "letter.pdf", "an entirely other letter")
    assert main(["parse", "letter.pdf", "--resume"]) == 2
    assert "says very little" in Path("out/letter.md").read_text()


def test_suspect_pages_are_warned_of_and_fail_only_when_strict(
    tmp_path: Path, scripted: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    write_pdf(tmp_path / "letter.pdf")
    cut = (
        '[[pages."*"]]\nfinish = "length"\ntext = "<|ref|>text<|/ref|><|det|>[[1, 2, 800, 90]]<|/det|>\\nsome words"\n'
    )
    scripted(cut)
    assert main(["parse", "letter.pdf"]) == 0
    assert "page 1: suspect" in capsys.readouterr().err
    assert main(["parse", "letter.pdf", "--force", "--strict"]) == 3


def interrupted(words: list[str], signal_number: int, when: Callable[[], bool]) -> subprocess.CompletedProcess[str]:
    """Run the command in a process group of its own and send it a signal, as a terminal does, when something is so."""
    command = [sys.executable, "-m", "pageloom", *words]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    end = time.monotonic() + 60
    while not when() and child.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(child.pid, signal_number)
    out, err = child.communicate(timeout=30)
    return subprocess.CompletedProcess(command, child.returncode, out, err)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_finished_pages_readable_and_resume_goes_on(
    signal_number: int, tmp_path: Path, scripted: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    write_pdf(tmp_path / "three.pdf", "one", "two", "three")
    scripted("[[pages.3]]\nstalls = true\n" + PARAGRAPH)

    def two_are_done() -> bool:
        return len(list(Path("out/three.pages").glob("pages/*.json"))) == 2

    ended = interrupted(["parse", "three.pdf"], signal_number, two_are_done)
    assert ended.returncode == 130
    assert "--resume" in ended.stderr
    assert "Traceback" not in ended.stderr
    partial = json.loads(Path("out/three.json").read_text())
    assert [page["number"] for page in partial["pages"]] == [1, 2]
    assert any(warning["code"] == "interrupted" for warning in partial["warnings"])
    assert Path("out/three.md").read_text().count("told by a script") == 2

    scripted('[[pages."3"]]\nblocks = [{ kind = "paragraph", text = "the end", box = [0.1, 0.1, 0.9, 0.2] }]\n')
    assert main(["parse", "three.pdf", "--resume", "--json"]) == 0
    assert summary(capsys)["inputs"][0]["status"] == "done"
    whole = json.loads(Path("out/three.json").read_text())
    assert [page["number"] for page in whole["pages"]] == [1, 2, 3]
    assert whole["warnings"] == []
    assert not Path("out/three.pages").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_no_terminal_can_show_are_read_and_told_tamed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pdf(tmp_path / "in" / "letter.pdf")
    data = (tmp_path / "in" / "letter.pdf").read_bytes()
    for name in (b"\xff\x1b[31m\xf0\x9f\x99\x82.pdf", "很长的文件名".encode() * 13 + b".pdf", b"-o.pdf", b"a\nb.pdf"):
        (tmp_path / "in" / os.fsdecode(name)).write_bytes(data)
    (tmp_path / "in" / os.fsdecode(b"\xfe.txt")).write_bytes(b"words")
    assert main(["parse", "in", "--json"]) == 0
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert len(list(Path("out").glob("*.md"))) == 5
    assert main(["parse", "in", "--resume"]) == 0
    assert json.loads(Path("out/letter.json").read_text())["name"] == "letter.pdf"
