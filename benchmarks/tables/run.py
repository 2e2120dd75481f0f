"""Table quality of the embedded engine: TEDS of the development tables and of our own.

    python benchmarks/tables/run.py [--data FOLDER] [--score FILE] [--own-only] [--seed 11]

Every file goes through the whole engine (finding lines, reading, layout, tables); the best table of the page counts.
"""

import argparse
import importlib.util
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).parent))
from own import own_tables

from pageloom.contracts import SourceOptions
from pageloom.engines.onnx import FACTORY
from pageloom.model.blocks import Table
from pageloom.model.geometry import PageSize
from pageloom.model.image import PageImage
from pageloom.model.reading import PageRequest
from pageloom.sources import image, pdf

GENERATED = (
    "generated/table_nested_header_scan",
    "generated/table_wide20_scan",
    "generated/table_crosspage_a_scan",
    "generated/vat_zh_special_scan",
    "generated/vat_zh_normal_photo",
    "generated/vat_zh_special",
    "generated/contract_zh_purchase_scan",
    "tables_zh/row_span",
)


def scorer(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"no scorer at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def html_of(table: Table) -> str:
    rows: dict[int, list[str]] = defaultdict(list)
    for cell in sorted(table.cells, key=lambda c: (c.row, c.column)):
        text = cell.text.replace("&", "&amp;").replace("<", "&lt;")
        rows[cell.row].append(f'<td rowspan="{cell.row_span}" colspan="{cell.column_span}">{text}</td>')
    return "<table>" + "".join("<tr>" + "".join(rows[r]) + "</tr>" for r in range(table.rows)) + "</table>"


def dev_tables(data: Path, score: ModuleType) -> Iterator[tuple[str, Path, list[str]]]:
    """Group, file and true tables of its first page."""
    for entry in json.loads((data / "omnidocbench/OmniDocBench_subset.json").read_text("utf-8")):
        true = [u.text for u in score.odb_units(entry) if u.kind == "table"]
        if true:
            yield "OmniDocBench", data / "omnidocbench" / Path(entry["page_info"]["image_path"]).name, true
    for name, true in json.loads((data / "pubtabnet/tables.json").read_text("utf-8")).items():
        yield "PubTabNet", data / "pubtabnet" / name, [true]
    for name in GENERATED:
        file = next(p for p in (data / name).parent.iterdir() if p.stem == Path(name).name and p.suffix != ".md")
        true = [u.text for u in score.units((data / f"{name}.gt.md").read_text("utf-8")) if u.kind == "table"]
        yield "generated, tables_zh", file, true


def drawn(file: Path) -> list[PageImage]:
    source = (pdf if file.suffix.lower() == ".pdf" else image).FACTORY.open(file, None, SourceOptions())
    try:
        pages = [source.draw(info.number, FACTORY.target).image for info in source.pages]
    finally:
        source.close()
    return [page for page in pages if page is not None]


def joined(tables: list[list[Table]]) -> list[str]:
    """The tables of a file; one cut by page breaks is joined as assembly does, by appending its rows."""
    found = [html_of(t) for t in tables[0]]
    for page in tables[1:]:
        for table in page:
            found[-1:] = [found[-1].replace("</table>", "") + html_of(table).replace("<table>", "")] if found else []
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/dev"))
    parser.add_argument("--score", type=Path, default=Path("../shared/tools/score.py"))
    parser.add_argument("--own-only", action="store_true")
    parser.add_argument("--seed", type=int, default=11, help="of our own pages; a new one gives unseen words and grain")
    chosen = parser.parse_args()
    score = scorer(chosen.score)
    engine = FACTORY.load(FACTORY.options())
    marks: dict[str, list[tuple[float, float, float, str]]] = defaultdict(list)

    def mark(group: str, name: str, pages: list[PageImage], true: list[str]) -> None:
        started = time.process_time()
        read = [engine.read(PageRequest(page.number, page, None)) for page in pages]
        seconds = time.process_time() - started
        found = joined([[b for b in reading.blocks if isinstance(b, Table)] for reading in read])
        for want in true:
            text, shape = max(
                ((score.teds(f, want), score.teds(f, want, with_text=False)) for f in found), default=(0.0, 0.0)
            )
            marks[group].append((text, shape, seconds, name))
            print(f"{group:22s} {name[:52]:52s} TEDS {text:.3f} structure {shape:.3f} {seconds:5.1f} CPU-s", flush=True)

    if not chosen.own_only:
        for group, file, true in dev_tables(chosen.data, score):
            mark(group, file.name, drawn(file), true)
    for name, rgb, true in own_tables(chosen.seed):
        size = PageSize(rgb.shape[1] * 72 / 150, rgb.shape[0] * 72 / 150)
        mark(f"own pages, seed {chosen.seed}", name, [PageImage(1, size, rgb, 150.0)], [true])
    print("\n| tables | n | TEDS | structure | worst |\n|---|---|---|---|---|")
    for group, several in marks.items():
        text = sum(m[0] for m in several) / len(several)
        shape = sum(m[1] for m in several) / len(several)
        worst = min(several)
        print(f"| {group} | {len(several)} | {text:.3f} | {shape:.3f} | {worst[3]} {worst[0]:.2f} |")
    every = [m for several in marks.values() for m in several]
    print(f"| all | {len(every)} | | {sum(m[1] for m in every) / len(every):.3f} | |")


if __name__ == "__main__":
    main()
