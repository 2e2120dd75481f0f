"""What is taken from the command line: files, folders, stdin."""

import os
from pathlib import Path

import pytest

from pageloom.cli.inputs import gather, shown
from pageloom.errors import SettingsError

PDF = b"%PDF-1.7\n"


def put(path: Path, data: bytes = PDF) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_folder_gives_its_documents_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.pdf", "sub/c.pdf", "A.pdf"):
        put(tmp_path / name)
    found = gather([str(tmp_path)], None, None).found
    assert [(entry.source.folder / entry.source.name).as_posix() for entry in found] == ["A.pdf", "b.pdf", "sub/c.pdf"]


def test_a_folders_notes_are_left_out_and_its_broken_documents_are_not(tmp_path: Path) -> None:
    put(tmp_path / "fine.pdf")
    put(tmp_path / "notes.txt", b"just words")
    put(tmp_path / "broken.pdf", b"just words")
    put(tmp_path / "renamed.txt", PDF)
    gathered = gather([str(tmp_path)], None, None)
    assert [entry.name for entry in gathered.found] == ["broken.pdf", "fine.pdf", "renamed.txt"]
    assert [path.name for path in gathered.left_out] == ["notes.txt"]


def test_hidden_files_and_the_output_folder_are_not_input(tmp_path: Path) -> None:
    put(tmp_path / "a.pdf")
    put(tmp_path / ".hidden.pdf")
    put(tmp_path / "out" / "a.assets" / "p1.png", b"\x89PNG\r\n\x1a\n")
    assert [entry.name for entry in gather([str(tmp_path)], None, tmp_path / "out").found] == ["a.pdf"]


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    path = put(tmp_path / "a.pdf")
    assert len(gather([str(path), str(tmp_path)], None, None).found) == 1


def test_a_link_in_a_circle_ends(tmp_path: Path) -> None:
    put(tmp_path / "a.pdf")
    (tmp_path / "again").symlink_to(tmp_path)
    assert len(gather([str(tmp_path)], None, None).found) == 1


def test_what_is_not_there_is_said_before_anything_is_read(tmp_path: Path) -> None:
    path = put(tmp_path / "a.pdf")
    with pytest.raises(SettingsError, match=r"none\.pdf"):
        gather([str(path), str(tmp_path / "none.pdf")], None, None)


def test_a_folder_without_documents_is_an_error(tmp_path: Path) -> None:
    put(tmp_path / "notes.txt", b"words")
    with pytest.raises(SettingsError, match="no PDF or image"):
        gather([str(tmp_path)], None, None)


def test_names_that_would_write_to_the_terminal_are_shown_tamed() -> None:
    name = Path(os.fsdecode(b"\xff\x1b[31m.pdf"))
    assert shown(name).isprintable()
