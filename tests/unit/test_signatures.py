"""Signatures are ink where one was asked for."""

import cv2
import numpy as np

from pageloom.layout.page import LayoutPage
from pageloom.layout.signatures import find_signatures
from pageloom.model.blocks import Confidence
from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import PageImage, TextLine

SIZE = PageSize(600, 800)


def page(rgb: np.ndarray, *lines: TextLine) -> LayoutPage:
    return LayoutPage(1, SIZE, lines, PageImage(1, SIZE, rgb, 72.0))


def paper() -> np.ndarray:
    return np.full((800, 600, 3), 245, np.uint8)


def label(text: str, y: float = 0.5) -> TextLine:
    return TextLine(text, Box(0.1, y, 0.25, y + 0.025), Confidence(0.99, "recogniser"))


def scribble(rgb: np.ndarray, x: int, y: int) -> None:
    xs = np.arange(0, 120)
    points = np.stack([x + xs, y + (18 * np.sin(xs / 7) * np.cos(xs / 23))], axis=1).astype(np.int32)
    cv2.polylines(rgb, [points], isClosed=False, color=(30, 30, 120), thickness=2)


def test_ink_after_the_label_is_a_signature_by_rule() -> None:
    rgb = paper()
    scribble(rgb, 170, 408)
    (found,) = find_signatures(page(rgb, label("乙方签字：")))
    assert found.block.confidence.basis == "rule"
    assert 0.27 < found.box.x0 < 0.3
    assert 0.46 < found.box.x1 < 0.5


def test_ink_above_the_rule_over_the_label_is_found() -> None:
    rgb = paper()
    cv2.line(rgb, (60, 396), (260, 396), (0, 0, 0), 1)
    scribble(rgb, 80, 374)
    (found,) = find_signatures(page(rgb, label("Signature")))
    assert found.box.y1 < 0.5


def test_empty_zone_has_no_signature() -> None:
    rgb = paper()
    cv2.line(rgb, (155, 418), (330, 418), (0, 0, 0), 1)
    assert find_signatures(page(rgb, label("Signature:"))) == []


def test_printed_name_is_no_signature() -> None:
    rgb = paper()
    cv2.putText(rgb, "Lin Zhiyuan", (160, 415), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (0, 0, 0), 1)
    name = TextLine("Lin Zhiyuan", Box(0.25, 0.495, 0.5, 0.527), Confidence(0.98, "recogniser"))
    assert find_signatures(page(rgb, label("Signed"), name)) == []


def test_ink_without_a_label_is_left_alone() -> None:
    rgb = paper()
    scribble(rgb, 170, 408)
    assert find_signatures(page(rgb, label("Amount due:"))) == []


def test_sentence_about_signatures_asks_for_none() -> None:
    rgb = paper()
    scribble(rgb, 170, 408)
    text = "This contract takes effect on signature by both parties and the guarantor."
    assert find_signatures(page(rgb, label(text))) == []


def test_page_without_pixels_has_none() -> None:
    assert find_signatures(LayoutPage(1, SIZE, (label("Signature"),))) == []
