"""Memory of a whole run: PSS of the main process and of every child over a 500-page PDF.

    python benchmarks/pipeline/memory.py [--pages 500] [--engine native|onnx]

Prints one Markdown table row per run: peak of the tree, of the main process and of the largest child, and how much
the tree grew after page 50 (median of the samples of pages 50-100 against the median of the last 50 pages).
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

WORDS = (
    "The quick brown fox jumps over the lazy dog while seven wizards box with great quiet zeal in the old town hall."
)


def born_digital(path: Path, pages: int) -> None:
    """A PDF of text pages, some 2,500 characters each."""
    from fpdf import FPDF

    pdf = FPDF()
    for number in range(1, pages + 1):
        pdf.add_page()
        pdf.set_font("helvetica", size=16)
        pdf.cell(0, 12, text=f"Chapter {number}", new_x="LMARGIN", new_y="NEXT")
        pdf.set_font("helvetica", size=10)
        for part in range(5):
            pdf.multi_cell(0, 5, text=f"{number}.{part} " + WORDS * 5, new_x="LMARGIN", new_y="NEXT")
    pdf.output(str(path))


def scanned(path: Path, pages: int) -> None:
    """The same pages as pictures: drawn at 150 dpi and put back as JPEG, so that only OCR can read them."""
    import io

    import pypdfium2
    from fpdf import FPDF

    few = path.with_suffix(".few.pdf")
    born_digital(few, min(pages, 10))
    document = pypdfium2.PdfDocument(few)
    pictures = []
    for page in document:
        stream = io.BytesIO()
        page.render(scale=150 / 72).to_pil().convert("RGB").save(stream, "JPEG", quality=85)
        pictures.append(stream)
    pdf = FPDF()
    for number in range(pages):
        pdf.add_page()
        pdf.image(pictures[number % len(pictures)], x=0, y=0, w=210)
    pdf.output(str(path))


def pss(process: psutil.Process) -> float:
    """Proportional set size, MiB."""
    try:
        return float(process.memory_full_info().pss) / (1 << 20)
    except (psutil.Error, OSError):
        return 0.0


def measure(pdf: Path, out: Path, engine: str) -> str:
    """Run the command line over a PDF and sample its process tree."""
    command = [sys.executable, "-m", "pageloom", "parse", str(pdf), "-o", str(out), "--engine", engine, "--quiet"]
    started = time.monotonic()
    running = subprocess.Popen(command)
    main = psutil.Process(running.pid)
    samples: list[tuple[int, float, float, float]] = []
    while running.poll() is None:
        children = main.children(recursive=True)
        sizes = [pss(child) for child in children]
        done = sum(1 for _ in out.rglob("pages/0*.json"))
        own = pss(main)
        samples.append((done, own + sum(sizes), own, max(sizes, default=0.0)))
        time.sleep(0.5)
    seconds = time.monotonic() - started
    if running.returncode != 0:
        sys.exit(f"pageloom ended with {running.returncode}")
    last = max(done for done, *_ in samples)
    early = [total for done, total, *_ in samples if 50 <= done <= 100] or [0.0]
    late = [total for done, total, *_ in samples if done >= last - 50] or [0.0]
    growth = statistics.median(late) / max(1.0, statistics.median(early)) - 1
    peak, own, child = (max(column) for column in list(zip(*samples, strict=True))[1:])
    return f"| {engine} | {last} | {seconds:.0f} | {peak:.0f} | {own:.0f} | {child:.0f} | {growth:+.1%} |"


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--pages", type=int, default=500)
    words.add_argument("--engine", choices=["native", "onnx", "auto"], default="native")
    asked = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pdf = Path(folder) / "pages.pdf"
        (scanned if asked.engine == "onnx" else born_digital)(pdf, asked.pages)
        print("| engine | pages | s | tree peak MiB | main peak MiB | largest child MiB | growth after page 50 |")
        print("|---|---|---|---|---|---|---|")
        print(measure(pdf, Path(folder) / "out", asked.engine))


if __name__ == "__main__":
    main()
