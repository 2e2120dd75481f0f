"""Words of a line with their boxes, from the places where CTC emitted the characters."""

from collections.abc import Iterator, Sequence

from pageloom.engines.onnx.recognise import Glyph, Said
from pageloom.engines.onnx.session import Floats
from pageloom.model.blocks import Word
from pageloom.model.geometry import Box


def words_of(said: Said, corners: Floats, angle: int) -> tuple[Word, ...]:
    """Words of a line.

    Args:
        said: what the line says, with places along the line.
        corners: float32 [4, 2], page fractions, clockwise from the top left.
        angle: direction in which the line runs: 0, 90 (downwards) or 270 (upwards).

    Returns:
        Latin script is split at spaces; scripts without spaces give one run between spaces or marks.
    """
    return tuple(_word(run, corners, angle) for run in _runs(said.glyphs))


def is_spaceless(char: str) -> bool:
    """Whether a character belongs to a script that is written without spaces (Han, kana, their punctuation)."""
    return (
        "\u2e80" <= char <= "\u9fff"
        or "\uf900" <= char <= "\ufaff"
        or "\uff00" <= char <= "\uffef"
        or char > "\U00020000"
    )


def _runs(glyphs: Sequence[Glyph]) -> Iterator[list[Glyph]]:
    run: list[Glyph] = []
    for glyph in glyphs:
        if glyph.text == " ":
            if run:
                yield run
            run = []
            continue
        if run and is_spaceless(run[-1].text) != is_spaceless(glyph.text):
            yield run
            run = []
        run.append(glyph)
    if run:
        yield run


def _word(run: Sequence[Glyph], corners: Floats, angle: int) -> Word:
    start, end = run[0].start, run[-1].end
    top, bottom = (corners[0], corners[1]), (corners[3], corners[2])
    if angle == 90:
        top, bottom = (corners[1], corners[2]), (corners[0], corners[3])
    elif angle == 270:
        top, bottom = (corners[3], corners[0]), (corners[2], corners[1])
    points = [a + (b - a) * place for a, b in (top, bottom) for place in (start, end)]
    xs, ys = [float(p[0]) for p in points], [float(p[1]) for p in points]
    box = Box(min(xs), min(ys), max(xs), max(ys)).clamped()
    sure = sum(glyph.probability for glyph in run) / len(run)
    return Word("".join(glyph.text for glyph in run), box, round(sure, 4))
