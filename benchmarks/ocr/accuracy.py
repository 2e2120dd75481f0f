"""Table: error rates on clean print at 150 dpi.

python -m benchmarks.ocr.accuracy --shared ../shared/data/dev --font NotoSansCJK-Regular.ttc --font DejaVuSerif.ttf
"""

import argparse
import time
from pathlib import Path

from benchmarks.ocr.pages import drawn_pages, layer_pages
from benchmarks.ocr.truth import DPI, Score, TruthPage, compare

from pageloom.engines.onnx.ocr import Ocr


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--shared", type=Path)
    words.add_argument("--font", type=Path, action="append", default=[])
    given = words.parse_args()
    pages: list[TruthPage] = list(drawn_pages(given.font))
    if given.shared:
        pages += layer_pages(given.shared)
    ocr, total = Ocr(), Score()
    print("| page | characters | CER % | WER % | CPU s |\n|---|---|---|---|---|")
    for page in pages:
        start = time.process_time()
        lines = ocr.lines(page.rgb, DPI)
        seconds = time.process_time() - start
        height, width = page.rgb.shape[:2]
        score = compare(page, [(line.text, line.box.in_pixels(width, height)) for line in lines])
        print(f"| {page.name} | {score.chars} | {score.cer:.2f} | {score.wer:.2f} | {seconds:.2f} |", flush=True)
        total.char_edits += score.char_edits
        total.chars += score.chars
        total.word_edits += score.word_edits
        total.words += score.words
    print(f"| all | {total.chars} | {total.cer:.2f} | {total.wer:.2f} | |")


if __name__ == "__main__":
    main()
