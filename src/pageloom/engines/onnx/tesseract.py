"""The tesseract program, where it is installed, for languages that the models here cannot read."""

import csv
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import groupby, pairwise

import cv2
import numpy as np

from pageloom.engines.onnx.crops import cut, roomy
from pageloom.engines.onnx.detect import Quad
from pageloom.engines.onnx.languages import TESSERACT_NAMES
from pageloom.engines.onnx.session import Pixels
from pageloom.model.blocks import Confidence, Word
from pageloom.model.geometry import Box
from pageloom.model.image import TextLine

TIMEOUT_S = 150.0
_SAMPLES = 5
_HANGUL_GAP = 0.22  # of the letters' height; word spaces are 0.3 and more
_LINE_TO_SIZE = 0.85  # type size / height of the boxes that tesseract draws tightly


@dataclass(frozen=True, slots=True)
class Tesseract:
    """The program and the languages it has data for."""

    program: str
    languages: frozenset[str]

    @classmethod
    def find(cls) -> "Tesseract | None":
        """The installed program, or None."""
        program = shutil.which("tesseract")
        if program is None:
            return None
        listed = _run([program, "--list-langs"], None, 10.0)
        return cls(program, frozenset(listed.split("\n")[1:]) - {""}) if listed else None

    def lines(self, rgb: Pixels, languages: Sequence[str], dpi: float) -> list[TextLine]:
        """Lines of an upright image; boxes in fractions of it. Empty when the program failed or took too long.

        Args:
            rgb: uint8 [H, W, 3].
            languages: tesseract's names, e.g. "kor"; all of them in `self.languages`.
            dpi: pixels an inch of page.
        """
        done, png = cv2.imencode(".png", np.ascontiguousarray(rgb[:, :, ::-1]))
        if not done:
            return []
        # Its threads wait by spinning: with a worker on every core one thread each is several times faster.
        env = shutil.which("env")
        command = [env, "OMP_THREAD_LIMIT=1"] if env else []
        command += [self.program, "stdin", "stdout", "-l", "+".join(languages), "--dpi", str(round(dpi)), "tsv"]
        table = _run(command, png.tobytes(), TIMEOUT_S)
        height, width = rgb.shape[:2]
        return list(_lines(table, (width, height), dpi))


def likeliest(tesseract: Tesseract, rgb: Pixels, quads: Sequence[Quad], dpi: float) -> list[str]:
    """The installed language beyond our models that reads some lines best, as a list of one, or none."""
    names = sorted(tesseract.languages & set(TESSERACT_NAMES.values()))
    if len(names) < 2:
        return names
    sample = _stacked([cut(rgb, roomy(quad)) for quad in sorted(quads, key=lambda quad: -quad.width)[:_SAMPLES]])
    scores = {name: mean_confidence(tesseract.lines(sample, [name], dpi)) for name in names}
    return [max(names, key=lambda name: scores[name])]


def _stacked(crops: Sequence[Pixels]) -> Pixels:
    """Lines under each other on white paper."""
    width = max((crop.shape[1] for crop in crops), default=1)
    sheet = np.full((sum(crop.shape[0] + 8 for crop in crops) + 8, width + 16, 3), 255, np.uint8)
    y = 8
    for crop in crops:
        sheet[y : y + crop.shape[0], 8 : 8 + crop.shape[1]] = crop
        y += crop.shape[0] + 8
    return sheet


def mean_confidence(lines: Sequence[TextLine]) -> float:
    """Mean over all characters, 0-1; 0 where nothing was read."""
    count = sum(len(line.text) for line in lines)
    return sum((line.confidence.value or 0.0) * len(line.text) for line in lines) / count if count else 0.0


def _run(command: Sequence[str], given: bytes | None, timeout_s: float) -> str:
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False, timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def _lines(table: str, size: tuple[int, int], dpi: float) -> Iterator[TextLine]:
    rows = csv.DictReader(StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    words = [row for row in rows if row.get("level") == "5" and (row.get("text") or "").strip()]
    for _, several in groupby(words, lambda row: (row["block_num"], row["par_num"], row["line_num"])):
        found = [_word(row, size) for row in several]
        box = Box.around(word.box for word in found)
        sure = sum((word.confidence or 0.0) * len(word.text) for word in found) / sum(len(word.text) for word in found)
        yield TextLine(
            text=_joined(found, size),
            box=box,
            confidence=Confidence(round(sure, 4), "recogniser"),
            words=tuple(found),
            size=box.height * size[1] * 72.0 / dpi * _LINE_TO_SIZE,
        )


def _joined(words: Sequence[Word], size: tuple[int, int]) -> str:
    """The line's text; tesseract parts Hangul syllables that stand close together, which is undone."""
    text = words[0].text
    for left, right in pairwise(words):
        gap = (right.box.x0 - left.box.x1) * size[0]
        em = max(left.box.height, right.box.height) * size[1]
        together = _is_hangul(left.text[-1]) and _is_hangul(right.text[0]) and gap < _HANGUL_GAP * em
        text += right.text if together else f" {right.text}"
    return text


def _is_hangul(char: str) -> bool:
    return "\uac00" <= char <= "\ud7a3"


def _word(row: dict[str, str], size: tuple[int, int]) -> Word:
    x0, y0 = int(row["left"]) / size[0], int(row["top"]) / size[1]
    box = Box(x0, y0, x0 + int(row["width"]) / size[0], y0 + int(row["height"]) / size[1]).clamped()
    return Word(row["text"].strip(), box, round(max(0.0, float(row["conf"])) / 100.0, 4))
