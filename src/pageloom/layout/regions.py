"""Regions of a page by the layout model (PicoDet trained on CDLA): where text, titles, tables and figures are."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pageloom import weights
from pageloom.errors import EngineDead, ModelsMissing
from pageloom.model.geometry import Box

Kind = Literal[
    "text",
    "title",
    "figure",
    "figure_caption",
    "table",
    "table_caption",
    "header",
    "footer",
    "reference",
    "equation",
]
Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]

KINDS: tuple[Kind, ...] = get_args(Kind)  # order of the model's classes (its metadata `character`)
INPUT_HEIGHT, INPUT_WIDTH = 800, 608
STRIDES = (8, 16, 32, 64)
BINS = 8  # distances to the four sides are distributions over 0-7 strides (Generalized Focal Loss)
MEAN = np.array([0.485, 0.456, 0.406], np.float32)  # ImageNet, as it was trained
STD = np.array([0.229, 0.224, 0.225], np.float32)
SCORE = 0.4  # weaker boxes are mostly wrong on the pages of CPU-ENGINE section 3
OVERLAP = 0.5  # of two boxes of one kind, the weaker is dropped at this intersection over union


@dataclass(frozen=True, slots=True)
class FoundRegion:
    """A region the model sees: its kind, box (fractions of the image) and score 0-1."""

    kind: Kind
    box: Box
    score: float


class RegionModel:
    """The layout model in memory."""

    def __init__(self, file: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises classes of its own, straight from Exception
            raise ModelsMissing(f"layout model {file.name} cannot be loaded: {error}") from error
        self._input = self._session.get_inputs()[0].name

    @classmethod
    def load(cls, folder: Path | None) -> "RegionModel":
        """The model of a folder; None = the user's data folder.

        Raises:
            ModelsMissing: it is not there, or damaged.
        """
        return cls(weights.path("layout_cdla", folder))

    def find(self, rgb: Pixels) -> tuple[FoundRegion, ...]:
        """Regions of an upright page, best first.

        Args:
            rgb: uint8 [H, W, 3].

        Raises:
            EngineDead: the runtime failed (memory, mostly).
        """
        import cv2

        small = cv2.resize(rgb, (INPUT_WIDTH, INPUT_HEIGHT), interpolation=cv2.INTER_LINEAR)
        x = ((small.astype(np.float32) / 255 - MEAN) / STD).transpose(2, 0, 1)[None]
        try:
            outputs = self._session.run(None, {self._input: np.ascontiguousarray(x)})
        except Exception as error:  # onnxruntime raises classes of its own, straight from Exception
            raise EngineDead(f"the layout model failed: {error}") from error
        half = len(STRIDES)
        scores = np.concatenate([output[0] for output in outputs[:half]])
        corners = np.concatenate(
            [_corners(output[0], stride) for output, stride in zip(outputs[half:], STRIDES, strict=True)]
        )
        return _regions(scores, corners)


def _corners(distances: Floats, stride: int) -> Floats:
    """Boxes x0 y0 x1 y1 in input pixels from distributions of distances: [N, 32] -> [N, 4]."""
    columns, rows = -(-INPUT_WIDTH // stride), -(-INPUT_HEIGHT // stride)
    x = (np.arange(columns, dtype=np.float32) + 0.5) * stride
    y = (np.arange(rows, dtype=np.float32) + 0.5) * stride
    centres = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    parts = distances.reshape(-1, 4, BINS)
    parts = np.exp(parts - parts.max(axis=-1, keepdims=True))
    reach = (parts / parts.sum(axis=-1, keepdims=True)) @ np.arange(BINS, dtype=np.float32) * stride
    return np.concatenate([centres - reach[:, :2], centres + reach[:, 2:]], axis=1).astype(np.float32)


def _regions(scores: Floats, corners: Floats) -> tuple[FoundRegion, ...]:
    found: list[FoundRegion] = []
    for number, kind in enumerate(KINDS):
        kept: list[FoundRegion] = []
        strong = np.flatnonzero(scores[:, number] > SCORE)
        for place in strong[np.argsort(-scores[strong, number])][:200]:
            x0, y0, x1, y1 = (float(value) for value in corners[place])
            box = Box(x0 / INPUT_WIDTH, y0 / INPUT_HEIGHT, x1 / INPUT_WIDTH, y1 / INPUT_HEIGHT).clamped()
            if all(box.iou(other.box) < OVERLAP for other in kept):
                kept.append(FoundRegion(kind, box, float(scores[place, number])))
        found += kept
    return tuple(sorted(found, key=lambda region: -region.score))
