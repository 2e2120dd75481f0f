"""Recorded forms of answers become the blocks beside them."""

import json

import pytest
from tests.golden.deepseek.regenerate import ANSWERS, blocks_of

NAMES = sorted(file.stem for file in ANSWERS.glob("*.txt"))


@pytest.mark.parametrize("name", NAMES)
def test_answer_becomes_its_blocks(name: str) -> None:
    expected = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(blocks_of(name))) == expected


def test_there_are_answers() -> None:
    assert len(NAMES) >= 10
