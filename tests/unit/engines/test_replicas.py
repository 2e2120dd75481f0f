"""Breakers open on the transport, limits give way, the least busy server is next."""

from pageloom.asking.replicas import CONSECUTIVE, LEAST_LIMIT, Breaker, Limit, Replicas


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.begun()
        breaker.done(well=False)


def test_five_failures_in_a_row_open_it_for_five_seconds() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    fail(breaker, CONSECUTIVE - 1)
    assert breaker.allows()
    fail(breaker, 1)
    assert not breaker.allows()
    clock.now += 4.9
    assert not breaker.allows()
    clock.now += 0.2
    assert breaker.allows()


def test_half_open_lets_one_call_try() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    fail(breaker, CONSECUTIVE)
    clock.now += 6
    breaker.begun()
    assert not breaker.allows()
    breaker.done(well=True)
    assert breaker.closed


def test_pauses_double_to_a_minute() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    fail(breaker, CONSECUTIVE)
    pauses = []
    for _ in range(6):
        pauses.append(round(breaker.open_until - clock.now))
        clock.now = breaker.open_until
        fail(breaker, 1)
    assert pauses == [5, 10, 20, 40, 60, 60]


def test_half_of_twenty_open_it_and_single_ones_do_not() -> None:
    breaker = Breaker(Clock())
    for number in range(40):
        breaker.begun()
        breaker.done(well=number % 3 != 0)
    assert breaker.closed
    breaker = Breaker(Clock())
    for number in range(20):
        breaker.begun()
        breaker.done(well=number % 4 == 0)
    assert not breaker.closed


def test_old_failures_are_forgotten() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    for _ in range(30):
        fail(breaker, 1)
        breaker.done(well=True)
        clock.now += 31
    assert breaker.closed


def test_a_cancelled_call_says_nothing() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    fail(breaker, CONSECUTIVE)
    clock.now += 6
    breaker.begun()
    breaker.left()
    assert breaker.allows()


def test_a_refusal_takes_a_third_and_many_at_once_are_one() -> None:
    clock = Clock()
    limit = Limit(64, clock)
    for _ in range(20):
        limit.refused()
    assert int(limit.now) == 44
    for _ in range(20):
        clock.now += 2
        limit.refused()
    assert limit.now == LEAST_LIMIT


def test_a_full_server_that_keeps_up_is_given_more_again() -> None:
    limit = Limit(64, Clock(), refused_at=0)
    limit.refused()
    low = limit.now
    for _ in range(3000):
        limit.well(int(limit.now))
    assert low < limit.now <= 64
    limit.well(0)


def test_the_least_busy_well_server_is_next() -> None:
    replicas = Replicas(["a", "b"], 2, Clock())
    picked = [replicas.pick() for _ in range(5)]
    assert [replica.url if replica else None for replica in picked] == ["a", "b", "a", "b", None]
    fail(replicas.all[0].breaker, CONSECUTIVE)
    assert not replicas.gave_up()
    fail(replicas.all[1].breaker, CONSECUTIVE)
    assert replicas.gave_up()
