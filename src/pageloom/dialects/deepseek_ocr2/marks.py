"""The grammar of place marks, read piece by piece: `<|ref|>label<|/ref|><|det|>[[x1, y1, x2, y2]]<|/det|>words`.

Nothing here is evaluated: corners are digits, or they are words. The form is the one of the model's README
(DeepSeek-OCR and DeepSeek-OCR-2, "grounding" prompts); what breaks it is kept as words and noted. Every character is
looked at a bounded number of times, so a megabyte of brackets costs what a megabyte of text costs.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from pageloom.model.geometry import Box

GRID = 999
"""Corners count 0 to 999 over the whole image, both ways (README: pixel = corner / 999 * side)."""

MAX_LABEL = 4000
"""A label is a word or, for `locate`, the text looked for; longer ones are a cut-off mark before running text."""

MAX_BOXES_TEXT = 60_000
MAX_BOXES = 512

_TOKEN_NAME = 40  # the longest special token of the tokenizer has 27 characters
_TOKEN = re.compile(rf"<\|[^|<>\n]{{1,{_TOKEN_NAME}}}\|>|<｜[^｜<>\n]{{1,{_TOKEN_NAME}}}｜>|<image>")
_TOKEN_BEGUN = re.compile(
    rf"<(?:\|[^|<>\n]{{0,{_TOKEN_NAME}}}\|?|｜[^｜<>\n]{{0,{_TOKEN_NAME}}}｜?|i(?:m(?:a(?:ge?)?)?)?)?$"
)
_REST_OF_TOKEN = _TOKEN_NAME + 4

_CORNERS = r"\[\s*(\d{1,4})\s*,\s*(\d{1,4})\s*,\s*(\d{1,4})\s*,\s*(\d{1,4})\s*\]"
_BOX = re.compile(_CORNERS)
_PUNCTUATION_OF_BOXES = re.compile(r"[\d\s,.\[\]\-+]*+")

LABELS = frozenset(
    {
        "text",
        "title",
        "sub_title",
        "image",
        "image_caption",
        "table",
        "table_caption",
        "table_footnote",
        "equation",
        "page_number",
        "header",
        "footer",
        "footnote",
        "chart",
        "figure",
        "figure_title",
        "code",
        "list",
        "reference",
        "formula",
        "seal",
    }
)
"""Labels seen in public outputs. The set is open: it only tells a cut-off label from a cut-off word."""


@dataclass(slots=True)
class Segment:
    """A mark and the words after it, up to the next mark.

    Attributes:
        label: as written, or None for words before the first mark.
        boxes: fractions 0-1 of the image; empty when the mark had none that could be read.
        notes: what was wrong with the mark: `bad_grounding`, `cut_mark`, `mark_without_boxes`.
        logprobs: natural logarithms of the probability of each word token, where the engine tells them.
    """

    label: str | None = None
    boxes: tuple[Box, ...] = ()
    words: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The words, as written."""
        return "".join(self.words)


class _At(Enum):
    WORDS = "words"
    LABEL = "in a label"
    LABELLED = "after a label"
    BOXES = "in the boxes"


class Marks:
    """Takes the answer in pieces of any length and gives the segments that have ended."""

    def __init__(self) -> None:
        self.fresh: list[str] = []
        """Words read since the caller last emptied this list."""
        self.notes: list[str] = []
        self.current = Segment()
        self._at = _At.WORDS
        self._tail = ""
        self._label: list[str] = []
        self._boxes: list[str] = []
        self._ended: list[Segment] = []

    def feed(self, text: str, logprobs: Sequence[float] = ()) -> list[Segment]:
        """Take a piece; the segments that ended with it, in order."""
        said = len(self.fresh)
        for piece in self._pieces(self._tail + text, last=False):
            self._step(piece)
        if self._at is _At.WORDS and len(self.fresh) > said:
            self.current.logprobs.extend(logprobs)
        return self._emptied()

    def close(self) -> list[Segment]:
        """End of the answer; a mark that was cut off is noted, its words are kept."""
        for piece in self._pieces(self._tail, last=True):
            self._step(piece)
        match self._at:
            case _At.LABEL:
                self._cut_label()
            case _At.LABELLED:
                self._begin((), "cut_mark")
            case _At.BOXES:
                self._end_boxes("cut_mark")
            case _At.WORDS:
                pass
        self._end_segment()
        return self._emptied()

    def _emptied(self) -> list[Segment]:
        ended, self._ended = self._ended, []
        return ended

    def _pieces(self, text: str, *, last: bool) -> Iterator[str]:
        """Control tokens and the text between them; a token begun at the very end waits for its rest."""
        at = 0
        for found in _TOKEN.finditer(text):
            if found.start() > at:
                yield text[at : found.start()]
            yield found[0]
            at = found.end()
        rest = text[at:]
        self._tail = ""
        begun = None if last else _TOKEN_BEGUN.search(rest, max(0, len(rest) - _REST_OF_TOKEN))
        if begun:
            self._tail = begun[0]
            rest = rest[: begun.start()]
        if rest:
            yield rest

    def _step(self, piece: str) -> None:
        match piece:
            case "<|ref|>":
                self._open_label()
            case "<|/ref|>":
                self._end_label()
            case "<|det|>":
                self._open_boxes()
            case "<|/det|>":
                if self._at is _At.BOXES:
                    self._end_boxes("bad_grounding")
            case _ if _TOKEN.fullmatch(piece):
                pass  # end of text, padding, roles: never part of a page
            case _:
                self._text(piece)

    def _text(self, piece: str) -> None:
        match self._at:
            case _At.WORDS:
                self._say(piece)
            case _At.LABEL:
                self._label.append(piece)
            case _At.LABELLED:
                if piece.strip():
                    self._begin((), "mark_without_boxes")
                    self._say(piece.lstrip())
            case _At.BOXES:
                self._boxes.append(piece)

    def _say(self, words: str) -> None:
        self.current.words.append(words)
        self.fresh.append(words)

    def _open_label(self) -> None:
        match self._at:
            case _At.LABEL:
                self._cut_label()
            case _At.LABELLED:
                self._begin((), "mark_without_boxes")
            case _At.BOXES:
                self._end_boxes("cut_mark")
            case _At.WORDS:
                pass
        self._at, self._label = _At.LABEL, []

    def _end_label(self) -> None:
        if self._at is _At.LABEL:
            self._at = _At.LABELLED

    def _open_boxes(self) -> None:
        match self._at:
            case _At.WORDS:
                self._label = []
            case _At.BOXES:
                self._end_boxes("cut_mark")
                self._label = []
            case _At.LABEL | _At.LABELLED:
                pass
        self._at, self._boxes = _At.BOXES, []

    def _cut_label(self) -> None:
        """A label without an end: its letters are words, unless they begin a label that is known."""
        text = "".join(self._label)
        self._at, self._label = _At.WORDS, []
        self.notes.append("cut_mark")
        if not any(label.startswith(text.strip().lower()) for label in LABELS):
            self._say(text)

    def _end_boxes(self, fault: str) -> None:
        text = "".join(self._boxes)
        boxes = boxes_of(text)
        self._begin(boxes or (), None if boxes is not None else fault)
        if boxes is None and not _PUNCTUATION_OF_BOXES.fullmatch(text):
            self._say(text.strip() + "\n")

    def _begin(self, boxes: tuple[Box, ...], fault: str | None) -> None:
        """A new segment. Where a mark is faulty and its label is no label, or too long for one, the label is a word."""
        label = "".join(self._label).strip()
        fault = "cut_mark" if len(label) > MAX_LABEL else fault
        self._end_segment()
        self.current = Segment(label=label, boxes=boxes)
        self._at, self._label, self._boxes = _At.WORDS, [], []
        if fault:
            self.current.notes.append(fault)
            self.notes.append(fault)
            if not label:
                self.current.label = None
            elif label.lower() not in LABELS:
                self.current.label = "text"
                self._say(f"{label}\n")

    def _end_segment(self) -> None:
        if self.current.label is not None or self.current.text.strip():
            self._ended.append(self.current)
        self.current = Segment()


def boxes_of(text: str) -> tuple[Box, ...] | None:
    """The boxes of a `<|det|>` field, or None when it is anything but `[[x1, y1, x2, y2], ...]` in whole numbers 0-999.

    The model sometimes rounds to 1000 (seen in public outputs); that is the edge. Swapped corners are put right; the
    flat form `[x1, y1, x2, y2]` is taken too. Never evaluated.
    """
    if len(text) > MAX_BOXES_TEXT:
        return None
    corners = _BOX.findall(text)
    frame = "".join(_BOX.sub("#", text).split())
    several = len(corners)
    if not 0 < several <= MAX_BOXES or frame not in {"#", "[" + ",".join("#" * several) + "]"}:
        return None
    boxes = [tuple(int(corner) for corner in box) for box in corners]
    if any(max(box) > GRID + 1 for box in boxes):
        return None
    return tuple(Box(x0 / GRID, y0 / GRID, x1 / GRID, y1 / GRID).clamped() for x0, y0, x1, y1 in boxes)
