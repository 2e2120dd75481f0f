"""Lines joined into running text."""

import pytest

from pageloom.layout.text import joined, words_of


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["two lines", "of text"], "two lines of text"),
        (["estab\ufffe", "lishment"], "establishment"),
        (["estab\u00ad", "lishment"], "establishment"),
        (["soft\u00adhyphen inside"], "softhyphen inside"),
        (["infor-", "mation"], "information"),
        (["self-", "made"], "self-made"),
        (["state-of-the-", "art"], "state-of-the-art"),
        (["the North-", "South line"], "the North-South line"),
        (["pages 10-", "12"], "pages 10-12"),
        (["a dash -", "and more"], "a dash - and more"),
        (["中文一行", "又一行"], "中文一行又一行"),
        (["使用", "Python"], "使用Python"),
        (["한국어 문장", "다음 줄"], "한국어 문장 다음 줄"),
        ([], ""),
    ],
)
def test_line_ends_are_resolved(lines: list[str], text: str) -> None:
    assert joined(lines) == text


def test_the_page_itself_tells_how_a_word_is_spelt() -> None:
    known = words_of(["a well-known co-author wrote", "the re-sign of"])
    assert joined(["the co-", "author"], known) == "the co-author"
    assert joined(["to re-", "sign"], known) == "to re-sign"
    assert joined(["to re-", "sign"]) == "to resign"
