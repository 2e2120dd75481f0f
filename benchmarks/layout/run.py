"""Text, order and rules of whole pages, beside other tools where they are installed; one command prints all tables.

    python benchmarks/layout/run.py [--data ../shared/data/dev] [--score ../shared/tools/score.py] [--own-only]
        [--peers]

Our column goes the whole way of `pageloom.parse` (routing, reading, layout, assembly, Markdown). Peers read the same
files as their documentation says: tesseract from pixels at 150 dpi, RapidOCR's default lines top to bottom, pymupdf4llm
(text layers only). Targets are those of the project's plan; the worst pages are named with what is wrong on them.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).parent))
from own import make

GENERATED = {  # file stem: measure, target
    "vat_zh_special_scan": ("text", 0.10),
    "contract_zh_purchase_scan": ("text", 0.05),
    "contract_zh_lease_handfilled_photo": ("text", 0.06),
    "columns3_en_scan": ("order", 0.05),
    "rotation_mix_a": ("text", 0.05),
}
Reader = Callable[[Path], str]


def scorer(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"no scorer at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ours(file: Path) -> str:
    import pageloom

    return str(pageloom.parse(file).markdown())


def drawn(file: Path) -> list[Path]:
    """Pictures of a file's pages, 150 dpi, in a temporary folder."""
    from PIL import Image

    folder = Path(tempfile.mkdtemp(prefix="pages-"))
    if file.suffix.lower() != ".pdf":
        Image.open(file).convert("RGB").save(folder / "1.png")
        return [folder / "1.png"]
    import pypdfium2

    out = []
    for number, page in enumerate(pypdfium2.PdfDocument(file), 1):
        out.append(folder / f"{number}.png")
        page.render(scale=150 / 72).to_pil().convert("RGB").save(out[-1])
    return out


def tesseract(file: Path) -> str:
    texts = []
    for picture in drawn(file):
        command = ["tesseract", str(picture), "stdout", "-l", "eng+chi_sim"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={"OMP_THREAD_LIMIT": "1"})
        texts.append(done.stdout)
    return "\n\n".join(texts)


def rapidocr(file: Path) -> str:
    from rapidocr import RapidOCR

    engine = RapidOCR()
    return "\n\n".join("\n\n".join(engine(str(picture)).txts or ()) for picture in drawn(file))


def pymupdf4llm(file: Path) -> str:
    import pymupdf4llm as tool

    return str(tool.to_markdown(str(file)))


def peers() -> dict[str, Reader]:
    from shutil import which

    found: dict[str, Reader] = {}
    if which("tesseract"):
        found["tesseract"] = tesseract
    for name, reader in (("rapidocr", rapidocr), ("pymupdf4llm", pymupdf4llm)):
        if importlib.util.find_spec(name) is not None:
            found[name] = reader
    return found


class Runs:
    """Markdown of every file by every tool, made once."""

    def __init__(self, tools: dict[str, Reader]) -> None:
        self.tools = tools
        self.seconds: dict[str, float] = defaultdict(float)
        self._held: dict[tuple[str, Path], str] = {}

    def markdown(self, tool: str, file: Path) -> str:
        """A tool's Markdown of a file; empty where the tool fails."""
        if (tool, file) not in self._held:
            start = time.perf_counter()
            try:
                text = self.tools[tool](file)
            except Exception as error:  # noqa: BLE001 - a peer that fails scores an empty page; the table says so
                print(f"  {tool} failed on {file.name}: {type(error).__name__}", file=sys.stderr)
                text = ""
            self.seconds[tool] += time.perf_counter() - start
            self._held[tool, file] = text
        return self._held[tool, file]


def ratio(pairs: list[list[int]]) -> float:
    return sum(x for x, _ in pairs) / max(1, sum(y for _, y in pairs))


def measured(score: ModuleType, truth: list[object], markdown: str, marks: str = "") -> dict[str, float]:
    page = score.score_page(truth, score.units(markdown))
    by_marks = score.marker_order(marks, markdown)
    return {
        "text": ratio(page["text_loose"]),
        "strict": ratio(page["text_strict"]),
        "order": by_marks if by_marks is not None else page.get("order", 0.0),
    }


def why(values: dict[str, float]) -> str:
    if values["order"] > 0.1:
        return "blocks in another order"
    if values["strict"] > 2 * values["text"] + 0.02:
        return "punctuation or spacing"
    return "letters read wrong, or text in a table or figure"


def pages_table(title: str, rows: dict[str, tuple[Path, list[object], str]], runs: Runs, score: ModuleType) -> None:
    print(f"\n## {title}: {len(rows)} pages\n\n| tool | text | strict | order |\n| --- | --- | --- | --- |")
    for tool in runs.tools:
        found = {n: measured(score, t, runs.markdown(tool, f), m) for n, (f, t, m) in rows.items()}
        means = [sum(v[key] for v in found.values()) / len(found) for key in ("text", "strict", "order")]
        print(f"| {tool} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
        if tool == "pageloom":
            worst = sorted(found, key=lambda name: -found[name]["text"] - found[name]["order"])[:5]
    print("\nWorst pages:")
    for name in worst:
        values = measured(score, rows[name][1], runs.markdown("pageloom", rows[name][0]), rows[name][2])
        print(f"- {name}: text {values['text']:.3f}, order {values['order']:.3f} ({why(values)})")


def generated_table(data: Path, runs: Runs, score: ModuleType) -> None:
    print(f"\n## Generated\n\n| file | measure | target | {' | '.join(runs.tools)} |")
    print(f"| --- {'| --- ' * (2 + len(runs.tools))}|")
    for stem, (measure, target) in GENERATED.items():
        file = next(p for p in (data / "generated").iterdir() if p.stem == stem and p.suffix not in {".md", ".json"})
        text = (data / "generated" / f"{stem}.gt.md").read_text("utf-8")
        values = [measured(score, score.units(text), runs.markdown(tool, file), text)[measure] for tool in runs.tools]
        print(f"| {stem} | {measure} | {target} | " + " | ".join(f"{value:.3f}" for value in values) + " |")


def rules_table(data: Path, runs: Runs, score: ModuleType) -> None:
    tests = [json.loads(line) for line in (data / "olmocr_bench/tests.jsonl").read_text("utf-8").splitlines() if line]
    print(
        f"\n## olmOCR-bench rules: {len(tests)}\n\n| tool | all | absent | present | order | table |\n| {'--- | ' * 6}"
    )
    for tool in runs.tools:
        kinds: dict[str, list[bool]] = defaultdict(list)
        for test in tests:
            passed = bool(score.rule(test, runs.markdown(tool, data / "olmocr_bench" / test["pdf"])))
            kinds["all"].append(passed)
            kinds[test["type"]].append(passed)
        cells = [f"{sum(v)}/{len(v)}" for v in (kinds[k] for k in ("all", "absent", "present", "order", "table"))]
        print(f"| {tool} | " + " | ".join(cells) + " |")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", type=Path, default=Path("../shared/data/dev"))
    arguments.add_argument("--score", type=Path, default=Path("../shared/tools/score.py"))
    arguments.add_argument("--own-only", action="store_true")
    arguments.add_argument("--peers", action="store_true")
    chosen = arguments.parse_args()
    score = scorer(chosen.score)
    runs = Runs({"pageloom": ours, **(peers() if chosen.peers else {})})
    if not chosen.own_only:
        folder = chosen.data / "omnidocbench"
        entries = json.loads((folder / "OmniDocBench_subset.json").read_text("utf-8"))
        names = [Path(entry["page_info"]["image_path"]).name for entry in entries]
        rows = {n: (folder / n, score.odb_units(e), "") for n, e in zip(names, entries, strict=True)}
        pages_table("OmniDocBench (targets: text 0.11, order 0.10)", rows, runs, score)
        generated_table(chosen.data, runs, score)
        rules_table(chosen.data, runs, score)
    with tempfile.TemporaryDirectory() as folder_name:
        own = {}
        for picture in make(Path(folder_name)):
            text = picture.with_suffix(".gt.md").read_text("utf-8")
            own[picture.stem] = (picture, score.units(text), text)
        pages_table("Own pages, not used for tuning", own, runs, score)
    print("\nSeconds: " + ", ".join(f"{tool} {seconds:.0f}" for tool, seconds in runs.seconds.items()))


if __name__ == "__main__":
    main()
