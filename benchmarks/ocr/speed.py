"""Table: seconds a page with two processes each, beside tesseract and plain RapidOCR, in one run.

python -m benchmarks.ocr.speed --shared ../shared/data/dev --font ... [--rapidocr /path/to/its/venv/bin/python]

Each engine reads the same pages, split over two processes, models loaded before the clock starts (tesseract starts
anew for every page, as it is used). CPU seconds count all processes and are what to compare on a busy machine.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import cv2
from benchmarks.ocr.pages import drawn_pages, layer_pages, scanned
from benchmarks.ocr.truth import Score, TruthPage, compare

PROCESSES = 2

# What a child runs: reads file names from stdin, writes one JSON list of [text, [x0, y0, x1, y1]] a line.
OURS = """
import json, resource, sys, cv2, numpy as np
from pageloom.engines.onnx.ocr import Ocr
ocr = Ocr()
ocr.lines(np.full((64, 64, 3), 255, np.uint8), 150)
ocr.tiny
print("ready", flush=True)
for name in sys.stdin:
    rgb = np.ascontiguousarray(cv2.imread(name.strip())[:, :, ::-1])
    h, w = rgb.shape[:2]
    print(json.dumps([[l.text, l.box.in_pixels(w, h)] for l in ocr.lines(rgb, 150)]), flush=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
RAPIDOCR = """
import json, logging, resource, sys
logging.disable(logging.CRITICAL)
from rapidocr import RapidOCR
ocr = RapidOCR()
print("ready", flush=True)
for name in sys.stdin:
    out = ocr(name.strip())
    rows = zip(out.boxes, out.txts) if out.boxes is not None else []
    print(json.dumps([[t, [float(b[:, 0].min()), float(b[:, 1].min()), float(b[:, 0].max()), float(b[:, 1].max())]]
                      for b, t in rows]), flush=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
TESSERACT = """
import csv, io, itertools, json, resource, subprocess, sys
print("ready", flush=True)
for name in sys.stdin:
    language = "chi_sim+eng" if "/zh" in name else "eng"
    command = ["tesseract", name.strip(), "stdout", "-l", language, "--dpi", "150", "tsv"]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [r for r in csv.DictReader(io.StringIO(table), delimiter="\\t", quoting=csv.QUOTE_NONE) if r["level"] == "5"]
    lines = []
    for _, several in itertools.groupby(rows, lambda r: (r["block_num"], r["par_num"], r["line_num"])):
        ws = list(several)
        left, top, width, height = ([int(r[k]) for r in ws] for k in ("left", "top", "width", "height"))
        right = max(a + b for a, b in zip(left, width))
        box = [min(left), min(top), right, max(a + b for a, b in zip(top, height))]
        lines.append([" ".join(r["text"] for r in ws), box])
    print(json.dumps(lines), flush=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def measure(
    command: Sequence[str], files: Sequence[Path], env: dict[str, str]
) -> tuple[dict[Path, list], float, float, int]:
    """Readings by file, wall seconds, CPU seconds and the peak resident memory of one process in MiB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        for _ in range(PROCESSES)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "ready"
    start = time.monotonic()
    shares = [files[number::PROCESSES] for number in range(PROCESSES)]
    for child, share in zip(children, shares, strict=True):
        assert child.stdin is not None
        child.stdin.write("".join(f"{file}\n" for file in share))
        child.stdin.close()
    readings: dict[Path, list] = {}
    peak = 0
    for child, share in zip(children, shares, strict=True):
        assert child.stdout is not None
        *answers, memory = child.stdout.read().strip().split("\n")
        readings.update(zip(share, map(json.loads, answers), strict=True))
        peak = max(peak, int(memory))
        child.wait()
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return readings, wall, cpu, peak


def row(name: str, command: Sequence[str], pages: dict[Path, TruthPage], env: dict[str, str]) -> None:
    readings, wall, cpu, peak = measure(command, list(pages), env)
    total = Score()
    for file, page in pages.items():
        score = compare(page, [(text, tuple(box)) for text, box in readings[file]])
        total.char_edits += score.char_edits
        total.chars += score.chars
        total.word_edits += score.word_edits
        total.words += score.words
    count = len(pages)
    print(
        f"| {name} | {wall / count:.2f} | {cpu / count:.2f} | {total.cer:.2f} | {total.wer:.2f} | {peak} |", flush=True
    )


def main() -> None:
    import os

    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--shared", type=Path)
    words.add_argument("--font", type=Path, action="append", default=[])
    words.add_argument("--rapidocr", type=Path)
    words.add_argument("--pages", type=int, default=99, help="read only the first pages")
    given = words.parse_args()
    truth = [*drawn_pages(given.font), *(layer_pages(given.shared) if given.shared else ())]
    with tempfile.TemporaryDirectory() as scratch:
        pages: dict[Path, TruthPage] = {}
        for number, page in enumerate(map(scanned, truth[: given.pages])):
            kind = "zh" if page.name.startswith("zh") else "en"
            file = Path(scratch) / f"{kind}{number}.png"
            cv2.imwrite(str(file), page.rgb[:, :, ::-1])
            pages[file] = page
        print(f"{len(pages)} scan pages at 150 dpi, {PROCESSES} processes each, {os.cpu_count()} cores\n")
        print(
            "| engine | s a page (wall) | CPU s a page, loading included | CER % | WER % | MiB |\n" + "|---" * 6 + "|"
        )
        single = {**os.environ, "OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"}
        row("pageloom onnx", [sys.executable, "-c", OURS], pages, single)
        if shutil.which("tesseract"):
            row("tesseract", [sys.executable, "-c", TESSERACT], pages, single)
        if given.rapidocr:
            row("RapidOCR, its defaults", [str(given.rapidocr), "-c", RAPIDOCR], pages, dict(os.environ))


if __name__ == "__main__":
    main()
