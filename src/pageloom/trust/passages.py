"""All maximal stretches of a row of scores (Ruzzo and Tompa, ISMB 1999), in linear time."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(slots=True)
class _Stretch:
    start: int
    end: int
    before: float
    after: float


def passages(scores: Sequence[float], least: float) -> list[tuple[int, int]]:
    """Stretches whose sum cannot be raised by growing or shrinking them.

    Args:
        scores: positive where something speaks for a passage, negative where not.
        least: stretches with a smaller sum are left out.

    Returns:
        Start and end (exclusive) of every stretch, in order, none overlapping.
    """
    found: list[_Stretch] = []
    total = 0.0
    for place, score in enumerate(scores):
        before, total = total, total + score
        if score > 0:
            _push(found, _Stretch(place, place + 1, before, total))
    return [(stretch.start, stretch.end) for stretch in found if stretch.after - stretch.before >= least]


def _push(found: list[_Stretch], new: _Stretch) -> None:
    while True:
        place = len(found) - 1
        while place >= 0 and found[place].before >= new.before:
            place -= 1
        if place < 0 or found[place].after >= new.after:
            found.append(new)
            return
        new = _Stretch(found[place].start, new.end, found[place].before, new.after)
        del found[place:]
