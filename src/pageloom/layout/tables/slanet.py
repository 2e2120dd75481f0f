"""SLANet-plus: a picture of one table to rows and cells with spans and boxes.

The model (Apache-2.0, PaddleX; 7.8 MB) sees 488 x 488 px and writes at most about 500 structure tokens.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from pageloom.layout.tables.frame import Rect

if TYPE_CHECKING:
    from pageloom.model.image import Pixels

SIDE_PX = 488  # PaddleX inference.yml of SLANet_plus: ResizeTableImage max_len
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # the same file: NormalizeImage
CELL_TOKENS = ("<td></td>", "<td", "<td>")


@dataclass(frozen=True, slots=True)
class ModelCell:
    """A cell as the model places it; `rect` in px of the picture it was shown."""

    row: int
    column: int
    row_span: int
    column_span: int
    rect: Rect
    header: bool = False


@dataclass(frozen=True, slots=True)
class Structure:
    """What the model says about one table.

    Attributes:
        probability: mean of its token probabilities, 0-1.
        complete: False when it ran out of tokens before the table's end.
        even: every row has the same number of columns.
    """

    rows: int
    columns: int
    cells: tuple[ModelCell, ...]
    probability: float
    complete: bool
    even: bool


class Slanet:
    """The model on one thread."""

    def __init__(self, path: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._input = self._session.get_inputs()[0].name
        tokens = self._session.get_modelmeta().custom_metadata_map["character"].splitlines()
        if "<td></td>" not in tokens:
            tokens.append("<td></td>")
        self._tokens = ["sos", *(t for t in tokens if t != "<td>"), "eos"]

    def read(self, rgb: "Pixels") -> Structure | None:
        """The structure of the table that fills a picture (uint8 [H, W, 3]), or None when none was seen."""
        height, width = rgb.shape[:2]
        ratio = SIDE_PX / max(height, width)
        small = cv2.resize(rgb[:, :, ::-1], (max(1, int(width * ratio)), max(1, int(height * ratio))))
        square = np.zeros((SIDE_PX, SIDE_PX, 3), np.float32)
        square[: small.shape[0], : small.shape[1]] = (small / 255.0 - MEAN) / DEVIATION
        boxes, probabilities = self._session.run(None, {self._input: square.transpose(2, 0, 1)[None]})
        return _structure(self._tokens, probabilities[0], boxes[0] * (SIDE_PX / ratio))


def _structure(tokens: list[str], probabilities: Any, boxes: Any) -> Structure | None:  # noqa: ANN401 - arrays of any float type
    """Tokens with their boxes to cells; probabilities [steps, tokens], boxes [steps, 8] in px."""
    best, scores = probabilities.argmax(axis=1), probabilities.max(axis=1)
    end = next((n for n, token in enumerate(best) if n and tokens[int(token)] == "eos"), None)
    words = [tokens[int(t)] for t in (best if end is None else best[:end])]
    rows = _rows(words, boxes)
    if not rows:
        return None
    cells, columns, even = _laid(rows)
    kept = scores[: len(words)]
    return Structure(len(rows), columns, tuple(cells), float(kept.mean()), complete=end is not None, even=even)


@dataclass(slots=True)
class _Open:
    """A cell while its tokens are read."""

    rect: Rect
    header: bool
    row_span: int = 1
    column_span: int = 1


def _rows(words: list[str], boxes: Any) -> list[list[_Open]]:  # noqa: ANN401
    rows: list[list[_Open]] = []
    head = False
    for n, word in enumerate(words):
        if word in {"<thead>", "</thead>"}:
            head = word == "<thead>"
        elif word == "<tr>":
            rows.append([])
        elif word in CELL_TOKENS and rows:
            xs, ys = boxes[n][0::2], boxes[n][1::2]
            rect = Rect(float(xs.min()), float(ys.min()), float(xs.max()), float(ys.max()))
            rows[-1].append(_Open(rect, head))
        elif rows and rows[-1] and "span=" in word:
            name, _, count = word.strip().partition("=")
            setattr(rows[-1][-1], "column_span" if name == "colspan" else "row_span", int(count.strip('"')))
    return [row for row in rows if row]


def _laid(rows: list[list[_Open]]) -> tuple[list[ModelCell], int, bool]:
    """Cells at their columns, as HTML lays them out: places taken by spans from above are skipped."""
    taken: set[tuple[int, int]] = set()
    cells: list[ModelCell] = []
    for r, row in enumerate(rows):
        column = 0
        for cell in row:
            while (r, column) in taken:
                column += 1
            span = min(cell.row_span, len(rows) - r)
            taken.update((r + y, column + x) for y in range(span) for x in range(cell.column_span))
            cells.append(ModelCell(r, column, span, cell.column_span, cell.rect, cell.header))
            column += cell.column_span
    widths = [max((c + 1 for y, c in taken if y == r), default=0) for r in range(len(rows))]
    counts = [sum(y == r for y, _ in taken) for r in range(len(rows))]
    columns = max(widths)
    return cells, columns, all(count == columns for count in counts)
