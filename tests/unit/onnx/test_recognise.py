from pathlib import Path

import numpy as np
import pytest

from pageloom.engines.onnx.recognise import Glyph, Recogniser, Said, _decoded

CLASSES = ["", "a", "b", " "]


def steps(*best: int) -> np.ndarray:
    out = np.full((len(best), len(CLASSES)), 0.02, np.float32)
    out[np.arange(len(best)), list(best)] = 0.9
    return out


def test_one_character_held_for_several_steps_is_one_character() -> None:
    glyphs = _decoded(steps(0, 1, 1, 1, 0, 2), CLASSES)
    assert [glyph.text for glyph in glyphs] == ["a", "b"]
    assert (glyphs[0].start, glyphs[0].end) == (1 / 6, 4 / 6)


def test_a_blank_between_parts_equal_characters() -> None:
    assert [glyph.text for glyph in _decoded(steps(1, 0, 1), CLASSES)] == ["a", "a"]


def test_probability_is_the_surest_step_and_spaces_do_not_count() -> None:
    out = steps(1, 1, 3)
    out[1, 1] = 0.97
    out[2, 3] = 0.3
    said = Said(tuple(_decoded(out, CLASSES)))
    assert said.score == pytest.approx(0.97, abs=1e-6)


def test_nothing_read_scores_nothing() -> None:
    assert Said(()).score == 0.0
    assert Said((Glyph(" ", 0.9, 0, 1),)).text.strip() == ""


def test_the_space_is_the_last_class_and_any_line_end_in_the_dictionary_will_do(tmp_path: Path) -> None:
    class Fixed:
        def run(self, x: np.ndarray) -> list[np.ndarray]:
            assert x.shape == (1, 3, 48, 96)
            return [steps(1, 3, 2)[None]]

    (tmp_path / "dict.txt").write_bytes(b"a\r\nb\r\n")
    recogniser = Recogniser(Fixed(), tmp_path / "dict.txt")  # type: ignore[arg-type]
    assert recogniser.read(np.zeros((24, 48, 3), np.uint8)).text == "a b"
    assert recogniser.knows("b")
    assert not recogniser.knows("\u3042")
