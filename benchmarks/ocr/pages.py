"""The pages of the OCR tables: drawn print, born-digital pages as pixels, and the same with the look of a scan."""

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from benchmarks.ocr.texts import CHINESE, ENGLISH
from benchmarks.ocr.truth import TruthPage, drawn, from_layer

# Born-digital pages whose text layer is right; file and page number.
LAYERS = (
    ("papers/layout-parser-paper-fast.pdf", 1),
    ("papers/tableformer.pdf", 2),
    ("olmocr_bench/multi_column_miss.pdf", 1),
    ("olmocr_bench/earnings.pdf", 1),
    ("invoices/AmazonWebServices.pdf", 1),
    ("invoices/EN16931_Einfach.pdf", 1),
    ("encrypted/copy-protected.pdf", 1),
)


def drawn_pages(fonts: list[Path]) -> Iterator[TruthPage]:
    """The Chinese or the English text in each font, by what the font can write."""
    for font in fonts:
        chinese = any(mark in font.name.lower() for mark in ("cjk", "uming", "ukai", "wqy", "song", "hei", "fang"))
        # The OpenType collection of Noto holds Japanese, Korean, Simplified and Traditional forms in this order.
        index = 2 if "cjk" in font.name.lower() else 0
        text, points = (CHINESE, 10.5) if chinese else (ENGLISH, 10.0)
        yield drawn(f"{'zh' if chinese else 'en'}, {font.stem}", text, font, points, index=index)


def layer_pages(shared: Path) -> Iterator[TruthPage]:
    """Born-digital pages of the shared documents."""
    for name, number in LAYERS:
        yield from_layer(shared / name, number)


def scanned(page: TruthPage, seed: int = 7) -> TruthPage:
    """The page as a mediocre office scan: blur, noise, JPEG of quality 40."""
    chance = np.random.default_rng(seed)
    soft = cv2.GaussianBlur(page.rgb, (0, 0), 0.8).astype(np.float32)
    noisy = np.clip(soft * 0.92 + 8 + chance.normal(0, 6, soft.shape), 0, 255).astype(np.uint8)
    _, jpeg = cv2.imencode(".jpg", noisy[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 40])
    rgb = np.ascontiguousarray(cv2.imdecode(jpeg, cv2.IMREAD_COLOR)[:, :, ::-1])
    return TruthPage(f"{page.name}, scanned", rgb, page.tokens)
