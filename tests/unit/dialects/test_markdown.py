"""Content between marks, cut into parts."""

import pytest

from pageloom.dialects.deepseek_ocr2.grounding import parse
from pageloom.dialects.deepseek_ocr2.markdown import RUN_LIMIT, formula_of, parts, trimmed_runs
from pageloom.model.blocks import Code, Formula, Heading, ListItem, Paragraph

DET = "<|det|>[[0, 0, 999, 999]]<|/det|>"


def kinds(text: str) -> list[str]:
    return [part.kind for part in parts(text)]


def test_every_list_item_is_its_own() -> None:
    text = "- offers for the first half of the year\n- Shortly after\n  - below\n3. third"
    found = list(parts(text))
    assert [(part.kind, part.marker, part.depth) for part in found] == [
        ("item", "-", 0),
        ("item", "-", 0),
        ("item", "-", 1),
        ("item", "3.", 0),
    ]


def test_chinese_markers_need_no_blank() -> None:
    assert [(p.marker, p.text) for p in parts("1、第一条\n（2）第二条")] == [("1、", "第一条"), ("（2）", "第二条")]


def test_numbers_and_dashes_in_running_text_are_no_items() -> None:
    assert kinds("1.5 metres\n-3 degrees\n2024. It was") == ["paragraph"]


def test_lines_of_a_paragraph_stay_lines() -> None:
    (part,) = parts("Bridge Street 4\n12345 Town")
    assert part.text == "Bridge Street 4\n12345 Town"


def test_headings_keep_their_level() -> None:
    assert [(part.text, part.level) for part in parts("# A\n\n### B ###")] == [("A", 1), ("B", 3)]


def test_displayed_formulas_over_lines() -> None:
    (before, formula, after) = parts("so\n\n\\[\na = b\n\\]\n\nand")
    assert (before.text, formula.kind, formula.text, after.text) == ("so", "formula", "a = b", "and")


def test_inline_formulas_stay_in_their_sentence() -> None:
    (part,) = parts("where \\(x^2\\) grows")
    assert (part.kind, part.text) == ("paragraph", "where \\(x^2\\) grows")


@pytest.mark.parametrize(
    ("written", "latex"),
    [
        ("\\[ a \\coloneqq b \\]", "a := b"),
        ("$$x$$", "x"),
        ("\\( y \\)", "y"),
        ("\\[ cut off", "cut off"),
        ("z^2", "z^2"),
    ],
)
def test_delimiters_are_no_part_of_a_formula(written: str, latex: str) -> None:
    assert formula_of(written) == latex


def test_code_keeps_its_lines() -> None:
    (part,) = parts("```python\nif a:\n    b()\n```")
    assert (part.kind, part.text) == ("code", "if a:\n    b()")


def test_layout_tags_and_strong_marks_are_dropped() -> None:
    assert [part.text for part in parts("<center>**Annex** B &amp; C</center>")] == ["Annex B & C"]


@pytest.mark.parametrize("mark", ["，", ".", "_", "…", "-"])
def test_runs_of_one_mark_are_trimmed_and_noted(mark: str) -> None:
    (event,) = parse(f"<|ref|>text<|/ref|>{DET}\nTotal {mark * (RUN_LIMIT + 20)} 12").events
    assert event.block.text == f"Total {mark * 3} 12"
    assert "runs_trimmed" in event.block.notes


def test_short_runs_are_print() -> None:
    assert trimmed_runs("Wait …… __________ 3") == ("Wait …… __________ 3", False)


def test_full_width_marks_stay_as_written() -> None:
    (event,) = parse("你好，世界（2024）：完。https://a.example/x,y").events
    assert event.block.text == "你好，世界（2024）：完。https://a.example/x,y"


def test_labels_decide_the_kind() -> None:
    text = "".join(
        f"<|ref|>{label}<|/ref|>{DET}\n{words}\n\n"
        for label, words in (
            ("title", "# Big"),
            ("sub_title", "Small"),
            ("equation", "\\[ e \\]"),
            ("code", "```\nx = 1\n```"),
            ("text", "- one\n- two"),
            ("text", "run on"),
        )
    )
    blocks = [event.block for event in parse(text).events]
    assert [type(block) for block in blocks] == [Heading, Heading, Formula, Code, ListItem, ListItem, Paragraph]
    assert [block.level for block in blocks if isinstance(block, Heading)] == [1, 2]
    assert all(block.regions for block in blocks)
