import pytest

from pageloom.engines.onnx.marks import mended, trimmed


@pytest.mark.parametrize(
    ("read", "printed"),
    [
        ("see http:/example.org/a", "see http://example.org/a"),
        ("登录https:/example.cn", "登录https://example.cn"),
        ("http://example.org", "http://example.org"),
        ("2022一2024年", "2022—2024年"),
        ("第一条", "第一条"),
        ("3一般", "3一般"),
    ],
)
def test_repairs_are_made_only_where_they_are_sure(read: str, printed: str) -> None:
    assert mended(read) == printed


def test_runs_of_one_mark_are_cut_and_told() -> None:
    assert trimmed("Chapter 1 .......... 5") == ("Chapter 1 ... 5", True)
    assert trimmed("__________") == ("___", True)
    assert trimmed("· · · · · ·") == ("···", True)


def test_words_and_short_runs_are_left_alone() -> None:
    for text in ("aaaaaaa", "1000000", "wait... what", "——", "……", "yes yes yes yes yes"):
        assert trimmed(text) == (text, False)
