"""From a recogniser's score to the chance that a line is right.

A recogniser's score is a mean of softmax peaks: it says how sure the network was, not how often it is right. The table
below turns one into the other. Its knots are a first estimate: no calibration error has been measured for them yet, so
the values rank lines by their risk, but are not to be read as measured shares.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace

from pageloom.model.blocks import Block, Confidence, Line, Table

# Score of a line, and the estimated share of lines of that score whose letters, digits and marks are all right.
CURVE: tuple[tuple[float, float], ...] = (
    (0.0, 0.0),
    (0.60, 0.05),
    (0.80, 0.25),
    (0.90, 0.55),
    (0.95, 0.75),
    (0.98, 0.90),
    (1.0, 0.97),
)


def chance(score: float) -> float:
    """Chance 0-1 that a line read with this score is right in every sign."""
    scores = [knot for knot, _ in CURVE]
    place = bisect_left(scores, score)
    if place == 0:
        return CURVE[0][1]
    if place == len(CURVE):
        return CURVE[-1][1]
    (low, under), (high, over) = CURVE[place - 1], CURVE[place]
    return under + (over - under) * (score - low) / (high - low)


def calibrated(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The same blocks with raw recogniser scores turned into chances.

    Lines and cells get the chance of their own score; a block that has lines gets the mean of its lines' chances,
    weighted by their letters. Confidences of another basis are left as they are. To be applied once to a reading.
    """
    return tuple(_block(block) for block in blocks)


def _block(block: Block) -> Block:
    lines = tuple(_line(line) for line in block.lines)
    changes: dict[str, object] = {"lines": lines, "confidence": _whole(block.confidence, lines)}
    if isinstance(block, Table):
        cells = []
        for cell in block.cells:
            inner = tuple(_line(line) for line in cell.lines)
            cells.append(cell.model_copy(update={"lines": inner, "confidence": _whole(cell.confidence, inner)}))
        changes["cells"] = tuple(cells)
        if not lines:
            changes["confidence"] = _whole(block.confidence, tuple(line for cell in cells for line in cell.lines))
    return block.model_copy(update=changes)


def _line(line: Line) -> Line:
    return replace(line, confidence=_own(line.confidence))


def _own(confidence: Confidence) -> Confidence:
    if confidence.basis != "recogniser" or confidence.value is None:
        return confidence
    return Confidence(round(chance(confidence.value), 4), "recogniser")


def _whole(confidence: Confidence, lines: tuple[Line, ...]) -> Confidence:
    if confidence.basis != "recogniser":
        return confidence
    weighed = [(line.confidence.value, len(line.text)) for line in lines if line.confidence.value is not None]
    letters = sum(size for _, size in weighed)
    if not letters:
        return _own(confidence)
    return Confidence(round(sum(value * size for value, size in weighed) / letters, 4), "recogniser")
