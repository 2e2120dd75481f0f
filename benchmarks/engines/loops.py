"""Repetition detector: false alarms on truth texts, and how soon made loops are cut.

    python benchmarks/engines/loops.py ../shared/data [--json OUT]

Truth texts are all of data/dev (whole and in page-sized pieces) and page-sized pieces of the contracts, papers and
invoices of data/recipes (its hostile files left out).
Loops are made by repeating the last 1 to 256 tokens of a piece without end, or by counting.
"""

import argparse
import gzip
import json
import random
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from pageloom.trust.loops import _TOKEN, Loop, LoopDetector

PAGE = 3000  # characters; a dense page of the dev set has about 3,200
PIECES_PER_CONTRACT = 4


def strings(value: object) -> Iterator[str]:
    """All longer strings in a JSON value, tables included."""
    if isinstance(value, str):
        if len(value) > 40:
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def joined_json(text: str) -> str:
    lines = [text] if text.lstrip().startswith(("[", "{")) and "\n{" not in text else text.splitlines()
    return "\n\n".join(found for line in lines if line.strip() for found in strings(json.loads(line)))


def dev_truths(folder: Path) -> Iterator[tuple[str, str]]:
    """Every truth text of the dev set."""
    manifest = json.loads((folder / "dev/manifest.json").read_text())
    entries = next(value for value in manifest.values() if isinstance(value, list))
    for name in sorted({file for entry in entries for file in entry.get("gt_files") or []}):
        text = (folder / "dev" / name).read_text(errors="replace")
        yield name, joined_json(text) if name.endswith((".json", ".jsonl")) else text


def pieces(text: str) -> list[str]:
    return [text[at : at + PAGE] for at in range(0, len(text), PAGE) if len(text) - at > PAGE // 3]


def recipe_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Page-sized pieces of the recipes' texts."""
    with gzip.open(folder / "recipes/train/cuad.jsonl.gz", "rt") as lines:
        for number, line in enumerate(lines):
            for at, piece in enumerate(pieces(json.loads(line)["text"])[:PIECES_PER_CONTRACT]):
                yield f"cuad {number}.{at}", piece
    yield from _files(folder)


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    for file in sorted((folder / "recipes").rglob("*")):
        if "bad" in file.parts:  # made to be hostile, one of them a loop itself
            continue
        if file.suffix in {".txt", ".md", ".html"}:
            for at, piece in enumerate(pieces(file.read_text(errors="replace"))):
                yield f"{file.name} {at}", piece
        elif file.suffix == ".xml":
            text = re.sub(r"<[^>]+>", " ", file.read_text(errors="replace"))
            for at, piece in enumerate(pieces(text)[:20]):
                yield f"{file.name} {at}", piece


def watch(text: str, step: int = 40) -> tuple[Loop | None, bool]:
    """Feed a text in pieces of about 10 tokens; the loop found, and whether it seemed stale."""
    detector = LoopDetector()
    for at in range(0, len(text), step):
        found = detector.feed(text[at : at + step])
        if found:
            return found, detector.stale
    return None, detector.stale


def made_loops(texts: list[str], count: int) -> Iterator[tuple[str, str, int]]:
    """Texts that run into a loop: text, kind, character at which the second period begins."""
    draw = random.Random(1)
    for number in range(count):
        base = draw.choice(texts)
        tokens = [found[0] for found in _TOKEN.finditer(base)][: draw.randint(100, 600)]
        if number % 10 == 9:
            gap = draw.choice(["\n", ". ", "</td><td>", ", No. "])
            yield "".join(tokens) + gap.join(str(n) for n in range(1, 2500)), "counter", len("".join(tokens))
            continue
        period = min(len(tokens), round(2 ** draw.uniform(0, 8)))
        repeated = "".join(tokens[-period:])
        yield "".join(tokens) + repeated * (8000 // period), "exact", len("".join(tokens))


def tokens_in(text: str) -> int:
    return sum(1 for _ in _TOKEN.finditer(text))


def quantile(values: list[int], share: float) -> int:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--json", type=Path)
    options.add_argument("--loops", type=int, default=400)
    given = options.parse_args()

    dev = list(dev_truths(given.data))
    clean = list(recipe_texts(given.data)) + [(name, piece) for name, text in dev for piece in pieces(text)]
    began = time.process_time()
    alarms_dev = [name for name, text in dev if watch(text)[0]]
    watched = [(name, *watch(text)) for name, text in clean]
    seconds = time.process_time() - began
    alarms = [name for name, found, _ in watched if found]
    stale = [name for name, found, seemed in watched if seemed and not found]
    all_tokens = sum(tokens_in(text) for _, text in [*dev, *clean])

    delays: dict[str, list[int]] = {"exact": [], "counter": []}
    missed = {"exact": 0, "counter": 0}
    for text, kind, onset in made_loops([text for _, text in clean], given.loops):
        found, _ = watch(text)
        if found:
            delays[kind].append(tokens_in(text[onset : found.end]))
        else:
            missed[kind] += 1
    both = delays["exact"] + delays["counter"]
    result = {
        "dev truths": len(dev),
        "false alarms on dev truths": alarms_dev,
        "page-sized texts": len(clean),
        "false alarms on page-sized texts": alarms,
        "share": round(len(alarms) / len(clean), 5),
        "marked stale": round(len(stale) / len(clean), 4),
        "stale": stale[:10],
        "loops made": given.loops,
        "loops missed": missed,
        "delay in tokens, median": quantile(both, 0.5),
        "delay in tokens, p90": quantile(both, 0.9),
        "exact, median / p90": [quantile(delays["exact"], 0.5), quantile(delays["exact"], 0.9)],
        "counters, median / p90": [quantile(delays["counter"], 0.5), quantile(delays["counter"], 0.9)],
        "CPU microseconds a token": round(seconds / all_tokens * 1e6, 2),
    }
    sys.stdout.write(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    if given.json:
        given.json.write_text(json.dumps(result, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
