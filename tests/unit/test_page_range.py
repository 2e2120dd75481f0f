import pytest

from pageloom.errors import PageNotFound, SettingsError
from pageloom.model.job import PageRange


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1", (1,)),
        ("1-3,7", (1, 2, 3, 7)),
        ("5-", (5, 6, 7, 8)),
        ("-2", (1, 2)),
        ("7,1-2,2", (1, 2, 7)),
        (" 2 , 4 ", (2, 4)),
    ],
)
def test_a_page_range_names_each_page_once(text: str, numbers: tuple[int, ...]) -> None:
    assert PageRange.read(text).of(8) == numbers


@pytest.mark.parametrize("text", ["", "0", "3-1", "a", "1-3-5", "1;2", "-", "1,,2", "-0"])
def test_what_is_no_page_range_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="page range"):
        PageRange.read(text)


@pytest.mark.parametrize("text", ["9", "7-9", "9-"])
def test_pages_that_are_not_there_are_named(text: str) -> None:
    with pytest.raises(PageNotFound, match="has 8"):
        PageRange.read(text).of(8)
