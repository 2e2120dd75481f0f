"""Can this page be believed? One verdict a page, with every reason and the numbers it rests on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pageloom.model.blocks import Block, Line, Pictured, Table, text_of
from pageloom.model.document import Attempt, Reason, Verdict
from pageloom.model.image import PageText, TextHealth
from pageloom.model.reading import Reading
from pageloom.trust.agreement import Agreement, agreement
from pageloom.trust.gibberish import gibberish

# Estimates: how many bad pages these limits catch has not been measured yet.
LOW_SCORE = 0.85  # a line below is more often wrong than right
LOW_LETTERS = 0.10  # share of a page's letters in such lines
MEAN_SCORE = 0.93
GIBBERISH = 0.25  # share of odd words
# A text layer speaks for or against a reading only when it is healthy and drawn visibly.
LAYER_UNMAPPED, LAYER_SYMBOLS, LAYER_PLAUSIBLE, LAYER_HIDDEN, LAYER_LETTERS = 0.05, 0.5, 0.5, 0.10, 20
SPOKEN = {
    "language_unsupported": "no installed recogniser reads the language of this page",
    "render_suspect_blank": "the page has content, but its picture came out blank",
    "content_lost": "parts of the page are missing in the damaged file",
    "truncated_image": "the picture file breaks off; the page was read as far as it goes",
    "truncated": "the answer was cut before the page's end",
    "cut_mark": "the answer ended inside a place mark",
    "bad_grounding": "place marks of the answer could not be read",
    "nothing_new": "for a long stretch the answer said little new",
    "language_unexpected": "the answer is in another script than the languages that were named",
}


@dataclass(frozen=True, slots=True)
class Scores:
    """Recogniser scores of a page's lines: letters in all, mean by letters, share of letters in low lines."""

    letters: int
    mean: float
    low: float


def judge(
    reading: Reading,
    text: PageText | None = None,
    *,
    attempts: Sequence[Attempt] = (),
    notes: Sequence[str] = (),
    found: Agreement | None = None,
) -> Verdict:
    """Judge a reading, before its confidences are calibrated.

    Args:
        reading: the last engine's answer.
        text: the PDF's own text layer of the page; it is heard only where it is healthy.
        attempts: all tries so far; more than one and nothing against the last makes the page `recovered`.
        notes: the drawing's remarks (`DrawnPage.notes`).
        found: agreement with the text layer where the caller has it already.
    """
    reasons = [
        *_from_notes((*notes, *reading.notes)),
        *_from_finish(reading),
        *_from_words(reading, text),
        *_from_scores(reading),
        *_from_layer(reading, text, found),
    ]
    if any(reason.code in {"blank", "nothing_drawn"} for reason in reasons):
        return Verdict(reasons=tuple(reasons))
    if reasons:
        lost = reading.finish != "stop" and not has_content(reading)
        return Verdict(state="failed" if lost else "suspect", reasons=tuple(reasons))
    if len(attempts) > 1:
        text_ = f"try {len(attempts)} ({attempts[-1].rung}) was read; before it: {_told(attempts[:-1])}"
        return Verdict(state="recovered", reasons=(Reason(code="read_again", text=text_),))
    return Verdict()


def has_content(reading: Reading) -> bool:
    """Whether anything came of the page: words, or a picture's place."""
    return any(isinstance(block, Pictured) or text_of(block).strip() for block in reading.blocks)


def comparable(text: PageText | None) -> bool:
    """Whether a text layer is good enough to speak against a reading."""
    return text is not None and _healthy(text.health) and text.health.glyphs >= LAYER_LETTERS


def scores(blocks: Iterable[Block]) -> Scores | None:
    """What the raw recogniser scores of a page's lines come to; None without any."""
    letters = 0
    total = low = 0.0
    for line in lines_of(blocks):
        value, size = line.confidence.value, len(line.text)
        if line.confidence.basis != "recogniser" or value is None:
            continue
        letters += size
        total += value * size
        low += size if value < LOW_SCORE else 0
    return Scores(letters, total / letters, low / letters) if letters else None


def lines_of(blocks: Iterable[Block]) -> Iterator[Line]:
    """All lines of blocks; a table's are those of its cells where these have any."""
    for block in blocks:
        inner = [line for cell in block.cells for line in cell.lines] if isinstance(block, Table) else []
        yield from inner or block.lines


def _healthy(health: TextHealth) -> bool:
    return (
        health.unmapped <= LAYER_UNMAPPED
        and health.symbols <= LAYER_SYMBOLS
        and health.plausible >= LAYER_PLAUSIBLE
        and health.invisible <= LAYER_HIDDEN
    )


def _told(attempts: Sequence[Attempt]) -> str:
    return ", ".join(f"{attempt.rung}: {attempt.outcome}" for attempt in attempts)


def _from_notes(notes: Sequence[str]) -> Iterator[Reason]:
    for note in dict.fromkeys(notes):
        if note in SPOKEN:
            yield Reason(code=note, text=SPOKEN[note])


def _from_finish(reading: Reading) -> Iterator[Reason]:
    tokens = f" after {reading.output_tokens} tokens" if reading.output_tokens else ""
    match reading.finish:
        case "length":
            yield Reason(code="truncated", text=f"the answer ended at its token limit{tokens}")
        case "loop":
            yield Reason(code="loop", text=f"the answer repeated itself and was cut{tokens}")
        case "cancelled":
            yield Reason(code="cancelled", text=f"reading was stopped{tokens}")
        case "stop":
            return


def _from_words(reading: Reading, text: PageText | None) -> Iterator[Reason]:
    if not has_content(reading):
        if text is not None and not text.has_content and not text.lines:
            yield Reason(code="nothing_drawn", text="the page draws nothing")
        else:
            yield Reason(code="no_text", text="the page is not blank, but nothing was read on it")
        return
    share = gibberish("\n".join(text_of(block) for block in reading.blocks))
    if share is not None and share > GIBBERISH:
        told = f"{share:.0%} of the words look like no language (limit {GIBBERISH:.0%})"
        yield Reason(code="gibberish", text=told)


def _from_scores(reading: Reading) -> Iterator[Reason]:
    read = scores(reading.blocks)
    if read is None:
        return
    if read.low > LOW_LETTERS or read.mean < MEAN_SCORE:
        told = f"{read.low:.0%} of the letters stand in lines scored below {LOW_SCORE} (limit {LOW_LETTERS:.0%}); "
        yield Reason(code="low_score", text=f"{told}mean score {read.mean:.3f} (limit {MEAN_SCORE})")


def _from_layer(reading: Reading, text: PageText | None, found: Agreement | None) -> Iterator[Reason]:
    if text is None or not comparable(text) or reading.engine.name == "native":
        return
    held = found or agreement(reading.blocks, text, _page_of(reading))
    for code, passages, whole in (
        ("invented_text", held.invented, "not in the text layer"),
        ("missing_text", held.missing, "in the text layer, but not read"),
    ):
        if passages:
            letters = sum(len(passage.text) for passage in passages)
            yield Reason(code=code, text=f"{len(passages)} passages, {letters} signs: {whole}")


def _page_of(reading: Reading) -> int:
    return next((region.page for block in reading.blocks for region in block.regions), 1)
