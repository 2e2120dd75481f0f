from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pageloom.errors import QueueFull
from pageloom.model.geometry import PageSize
from pageloom.model.job import PageTask
from pageloom.pipeline.queue import PageQueue


def pages(job: str, count: int) -> list[PageTask]:
    return [PageTask(job, n, Path("x"), n, PageSize(1, 1)) for n in range(1, count + 1)]


def order(queue: PageQueue) -> list[str]:
    taken = []
    while (task := queue.pop()) is not None:
        taken.append(f"{task.job}{task.number}")
    return taken


def test_pages_of_one_job_come_in_order() -> None:
    queue = PageQueue()
    queue.add("a", "me", pages("a", 5), 0.0)
    assert order(queue) == ["a1", "a2", "a3", "a4", "a5"]
    assert len(queue) == 0


def test_a_short_job_does_not_wait_behind_a_long_one() -> None:
    queue = PageQueue()
    queue.add("long", "me", pages("long", 100), 0.0)
    for _ in range(5):
        queue.pop()
    queue.add("short", "me", pages("short", 3), 1.0)
    assert max(place for place, name in enumerate(order(queue)) if name.startswith("short")) <= 3


def test_a_quarter_of_the_dispatches_starts_new_documents() -> None:
    queue = PageQueue()
    queue.add("one", "me", pages("one", 40), 0.0)
    for n in range(10):
        queue.add(f"d{n}-", "me", pages(f"d{n}-", 50), 1.0)
    firsts = [place for place, name in enumerate(order(queue)) if name.endswith("-1")]
    assert firsts[9] <= 44  # ten first pages within some forty dispatches


def test_the_oldest_document_always_goes_on() -> None:
    queue = PageQueue()
    queue.add("old", "me", pages("old", 20), 0.0)
    for n in range(100):
        queue.add(f"s{n}-", "me", pages(f"s{n}-", 2), 1.0)
    places = [place for place, name in enumerate(order(queue)) if name.startswith("old")]
    assert places[9] <= 110  # at least one of ten dispatches


def test_a_greedy_user_waits_behind_his_own_pages() -> None:
    queue = PageQueue()
    for n in range(500):
        queue.add(f"g{n}-", "greedy", pages(f"g{n}-", 1), 0.0)
    for _ in range(20):
        queue.pop()
    queue.add("mine", "modest", pages("mine", 3), 1.0)
    assert max(place for place, name in enumerate(order(queue)) if name.startswith("mine")) <= 6


def test_a_returning_user_has_saved_up_nothing() -> None:
    queue = PageQueue()
    queue.add("a", "one", pages("a", 50), 0.0)
    for _ in range(50):
        queue.pop()
    queue.add("b", "two", pages("b", 10), 1.0)
    queue.add("c", "one", pages("c", 10), 1.0)
    taken = order(queue)[:10]
    assert 4 <= sum(name.startswith("b") for name in taken) <= 6


def test_a_weight_gives_its_share() -> None:
    queue = PageQueue()
    queue.add("a", "heavy", pages("a", 60), 0.0, weight=3.0)
    queue.add("b", "light", pages("b", 60), 0.0)
    taken = order(queue)[:40]
    assert 28 <= sum(name.startswith("a") for name in taken) <= 32


def test_a_full_queue_takes_all_of_a_job_or_nothing() -> None:
    queue = PageQueue(limit=10)
    queue.add("a", "me", pages("a", 8), 0.0)
    with pytest.raises(QueueFull, match="8 pages are waiting"):
        queue.add("b", "me", pages("b", 3), 0.0)
    assert len(queue) == 8
    queue.add("c", "me", pages("c", 2), 0.0)


def test_a_page_whose_engine_died_goes_first_again() -> None:
    queue = PageQueue()
    queue.add("a", "me", pages("a", 3), 0.0)
    first = queue.pop()
    assert first is not None
    queue.put_back(first, "me", 1.0)
    assert order(queue) == ["a1", "a2", "a3"]
    queue.put_back(first, "me", 2.0)
    assert order(queue) == ["a1"]


def test_a_cancelled_job_leaves_the_queue() -> None:
    queue = PageQueue()
    queue.add("a", "me", pages("a", 3), 0.0)
    queue.add("b", "me", pages("b", 2), 0.0)
    assert queue.remove("a") == 3
    assert queue.remove("a") == 0
    assert order(queue) == ["b1", "b2"]


def test_the_estimate_of_pages_ahead_shrinks_to_nothing() -> None:
    queue = PageQueue()
    queue.add("a", "me", pages("a", 3), 0.0)
    queue.add("b", "me", pages("b", 10), 0.0)
    assert queue.ahead_of("a") == 0
    assert queue.ahead_of("b") == 3
    assert queue.ahead_of("unknown") == 0


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 12)), max_size=20), st.integers(0, 30))
def test_every_page_is_dispatched_exactly_once(jobs: list[tuple[str, int]], early: int) -> None:
    queue = PageQueue()
    taken = []
    for number, (tenant, count) in enumerate(jobs):
        queue.add(f"{number}-", tenant, pages(f"{number}-", count), float(number))
        for _ in range(early % 3):
            task = queue.pop()
            if task is not None:
                taken.append(f"{task.job}{task.number}")
    taken += order(queue)
    wanted = [f"{number}-{page}" for number, (_, count) in enumerate(jobs) for page in range(1, count + 1)]
    assert sorted(taken) == sorted(wanted)
    assert len(queue) == 0
