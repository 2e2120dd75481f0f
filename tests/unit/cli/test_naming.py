"""Names of outputs: kept where they can be, never shared by two inputs, safe on every file system."""

import unicodedata
from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pageloom.cli.naming import FOLDERS, Source, safe_name, stems, without_suffix
from pageloom.errors import SettingsError

FILES = (".md", ".json", ".txt")


def named(*paths: str) -> list[str]:
    sources = [Source(PurePath(path).parent, PurePath(path).name) for path in paths]
    return [stem.as_posix() for stem in stems(sources, FILES)]


def test_the_name_is_the_inputs_without_its_suffix() -> None:
    assert named("report.pdf", "scan.JPG") == ["report", "scan"]


def test_sub_folders_are_kept() -> None:
    assert named("2024/report.pdf", "2025/report.pdf") == ["2024/report", "2025/report"]


def test_two_inputs_of_one_name_keep_their_suffix() -> None:
    assert named("x.pdf", "x.png", "y.pdf") == ["x.pdf", "x.png", "y"]


def test_names_that_differ_only_in_case_or_unicode_form_are_one_name() -> None:
    assert named("Report.pdf", "report.png") == ["Report.pdf", "report.png"]
    composed, taken_apart = "caf\u00e9.pdf", "cafe\u0301.png"
    assert len({unicodedata.normalize("NFC", name).casefold() for name in named(composed, taken_apart)}) == 2


def test_the_same_name_twice_is_counted() -> None:
    assert named("x.pdf", "x.pdf") == ["x.pdf", "x.pdf-2"]


def test_a_name_that_became_another_inputs_name_moves_on() -> None:
    assert len(set(named("x.pdf", "x.png", "x.pdf.png"))) == 3


def test_an_output_never_is_the_folder_of_another_input() -> None:
    places = named("x.pdf", "x.assets/y.pdf", "x.md/z.pdf")
    assert places[1:] == ["x.assets/y", "x.md/z"]
    assert not {f"{places[0]}{ending}" for ending in (*FOLDERS, *FILES)} & {"x.assets", "x.md"}


@pytest.mark.parametrize(
    ("name", "stem"),
    [("a.pdf", "a"), ("a.b.pdf", "a.b"), ("report v1.2", "report v1.2"), (".pdf", ".pdf"), ("README", "README")],
)
def test_only_a_suffix_is_left_out(name: str, stem: str) -> None:
    assert without_suffix(name) == stem


@pytest.mark.parametrize("name", ["a\nb", "..", "con", "nul.txt", "a:b", "\udcff", " ", "x. ", "\x1b[31m"])
def test_odd_names_become_safe(name: str) -> None:
    safe = safe_name(name)
    assert safe not in {"", ".", ".."}
    assert safe.isprintable()
    assert safe.encode().decode() == safe
    assert not set(safe) & set('<>:"/\\|?*')


def test_long_names_are_cut_and_stay_apart() -> None:
    long = "很长的文件名" * 20
    first, second = named(f"{long}一.pdf", f"{long}二.pdf")
    assert first != second
    assert all(len(f"{name}.assets".encode()) <= 255 for name in (first, second))


# Names of a few letters, so that they meet often; dots and cases are what they meet by.
LETTERS = st.text(alphabet="xX.é-2pdfmn", min_size=1, max_size=7).filter(lambda name: name.strip("."))
PATHS = st.builds(lambda folder, name: f"{folder}{name}", st.sampled_from(["", "x.md/", "x.assets/", "a/"]), LETTERS)


@given(st.lists(PATHS, max_size=8))
def test_no_two_outputs_ever_meet(paths: list[str]) -> None:
    places = [unicodedata.normalize("NFC", place).casefold() for place in named(*paths)]
    assert len(set(places)) == len(places)
    written = {f"{place}{ending}" for place in places for ending in (*FOLDERS, *FILES)}
    folders = {parent.as_posix() for place in places for parent in PurePath(place).parents}
    assert not written & folders


def test_a_joined_document_has_a_plain_name() -> None:
    from pageloom.cli.naming import document_name

    assert document_name("all letters") == "all letters"
    for bad in ("", "a/b", "a\\b"):
        with pytest.raises(SettingsError):
            document_name(bad)
