"""Table: pages turned by quarter turns and tilted by small angles.

python -m benchmarks.ocr.turns --shared ../shared/data/dev --font ...
"""

import argparse
from pathlib import Path

import cv2
import numpy as np
from benchmarks.ocr.pages import drawn_pages, layer_pages
from benchmarks.ocr.truth import DPI

from pageloom.engines.onnx.engine import OnnxEngine
from pageloom.model.geometry import PageSize
from pageloom.model.image import PageImage
from pageloom.model.reading import PageRequest, Reading

SKEWS = (-8.0, -4.0, -1.0, 0.0, 0.7, 2.3, 8.0)


def read(engine: OnnxEngine, rgb: np.ndarray) -> Reading:
    size = PageSize(rgb.shape[1] * 72 / DPI, rgb.shape[0] * 72 / DPI)
    return engine.read(PageRequest(1, PageImage(1, size, np.ascontiguousarray(rgb), DPI), None))


def tilted(rgb: np.ndarray, degrees: float) -> np.ndarray:
    height, width = rgb.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), -degrees, 1.0)
    return cv2.warpAffine(rgb, turn, (width, height), flags=cv2.INTER_CUBIC, borderValue=(255, 255, 255))


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--shared", type=Path)
    words.add_argument("--font", type=Path, action="append", default=[])
    given = words.parse_args()
    pages = [*drawn_pages(given.font), *(layer_pages(given.shared) if given.shared else ())]
    engine = OnnxEngine(None, "rules")
    right, off = 0, []
    for page in pages:
        for turn in (0, 90, 180, 270):
            right += read(engine, np.rot90(page.rgb, turn // 90)).turned == turn
        for skew in SKEWS:
            off.append(abs(read(engine, tilted(page.rgb, skew)).skew - skew))
        print(f"{page.name}: worst tilt error {max(off[-len(SKEWS) :]):.2f} degrees", flush=True)
    print("\n| turned pages upright | tilt error, mean | tilt error, worst |\n|---|---|---|")
    print(f"| {right} of {4 * len(pages)} | {np.mean(off):.2f} | {max(off):.2f} |")


if __name__ == "__main__":
    main()
