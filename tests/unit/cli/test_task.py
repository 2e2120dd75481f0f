import pytest

from pageloom.cli.parse import asked


@pytest.mark.parametrize(
    ("written", "task", "words"),
    [
        (None, None, None),
        ("text", "text", None),
        ("locate:Total: EUR", "locate", "Total: EUR"),
        ("custom:What is this?", "custom", "What is this?"),
    ],
)
def test_a_task_brings_its_words(written: str | None, task: str | None, words: str | None) -> None:
    assert asked(written) == {"read.task": task, "read.words": words}
