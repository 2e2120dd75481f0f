"""Repetition is found in time, and print is left alone."""

import random
import time

import pytest

from pageloom.trust.loops import _TOKEN, COUNTER_STEPS, Loop, LoopDetector

PROSE = (
    "The gauges along the lower river were read every morning at seven. In March the water stood at 214 centimetres, "
    "in June at 187, and the lowest mark of the year was 96 on 12 September. Two stations were moved after the flood. "
)


def watched(text: str, step: int = 37) -> Loop | None:
    detector = LoopDetector()
    for at in range(0, len(text), step):
        found = detector.feed(text[at : at + step])
        if found:
            return found
    return None


def tokens(text: str) -> int:
    return sum(1 for _ in _TOKEN.finditer(text))


@pytest.mark.parametrize("unit", ["Luxury ", "，", "a b c d e f g h i j ", PROSE, "<tr><td>1</td><td>x y</td></tr>"])
def test_a_text_that_repeats_itself_is_cut_within_a_thousand_tokens(unit: str) -> None:
    found = watched(PROSE + unit * 2000)
    assert found is not None
    assert tokens((PROSE + unit * 2000)[len(PROSE) : found.end]) < 1000


@pytest.mark.parametrize("period", [1, 2, 3, 7, 20, 60, 120, 250])
def test_periods_of_any_length_are_found(period: int) -> None:
    draw = random.Random(period)
    words = [f"{''.join(draw.choices('abcdefghij', k=5))} " for _ in range(period)]
    assert watched(PROSE + "".join(words) * 3000) is not None


def test_one_period_is_kept() -> None:
    found = watched(PROSE + "and so on, " * 500)
    assert found is not None
    kept = found.kept(PROSE + "and so on, " * 500)
    assert kept.startswith(PROSE)
    assert kept.count("and so on,") <= 1


def test_a_counter_is_a_loop() -> None:
    found = watched(PROSE + "".join(f"{n}\n" for n in range(1, 366)))
    assert found is not None
    assert found.kind == "counter"


def test_numbers_that_do_not_rise_evenly_are_no_counter() -> None:
    draw = random.Random(3)
    assert watched("\n".join(str(draw.randint(0, 9999)) for _ in range(COUNTER_STEPS * 2))) is None


def test_odd_digits_are_no_fault() -> None:
    assert watched("①② ٣ 1² x½ " * 3) is None


def test_a_table_of_equal_cells_is_print() -> None:
    assert watched("<table>" + ("<tr>" + "<td>0</td>" * 10 + "</tr>") * 18 + "</table>") is None


def test_dot_leaders_of_a_table_of_contents_are_print() -> None:
    assert watched("\n".join(f"{n}.{n} Heading of that chapter {'.' * 90} {n * 7}" for n in range(1, 40))) is None


def test_the_same_word_126_times_is_print() -> None:
    assert watched("\n\n".join(" ".join(["项目名称"] * 9) for _ in range(14)) + "\n\nEND") is None


def test_how_the_text_is_cut_changes_nothing() -> None:
    text = PROSE + "again and again, " * 400
    starts = {found.start for step in (1, 2, 13, 64) if (found := watched(text, step))}
    assert len(starts) == 1


def test_a_token_costs_the_same_at_the_start_and_at_the_end() -> None:
    draw = random.Random(5)
    text = "".join(f"{draw.randint(0, 10**6)} {draw.choice('abcdefgh') * 3} " for _ in range(12_000))
    detector = LoopDetector()

    def seconds(part: str) -> float:
        began = time.process_time()
        detector.feed(part)
        return time.process_time() - began

    tenth = len(text) // 10
    first = seconds(text[:tenth])
    for number in range(1, 9):
        detector.feed(text[number * tenth : (number + 1) * tenth])
    assert seconds(text[9 * tenth :]) < 5 * max(first, 0.01)


def test_a_text_that_says_nothing_new_is_stale_but_no_loop() -> None:
    draw = random.Random(1)
    detector = LoopDetector()
    assert detector.feed("".join(f"[{draw.randint(0, 999)}, {draw.randint(0, 999)}]\n" for _ in range(300))) is None
    assert detector.stale
    fresh = LoopDetector()
    fresh.feed(PROSE * 2)
    assert not fresh.stale
