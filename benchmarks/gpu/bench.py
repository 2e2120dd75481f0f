#!/usr/bin/env python3
"""vLLM as it is against vLLM with pageloom-vllm, on one GPU, without network.

    bench.py --checkpoint DIR [--out DIR] [--only PART ...] [--pages 320] [--tokens 512]

Parts: `encoder` (right, and how fast, without a server), `tune`, `profile`, `guard` and `pixels`
(the host's share), `stock`, `ours`, `tokens` (compares the last two's answers). Prints Markdown;
keeps numbers, and answers for `tokens`, in the folder of --out. The checkpoint is made where it is
missing (random weights, real size, 7 GB).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import servers
from servers import Server, alone, load, page_request, served, text_request, watched

from tables import table

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packages" / "pageloom-vllm" / "src"))
QUICK = ("--compilation-config", '{"mode":0,"cudagraph_mode":"FULL_DECODE_ONLY"}')  # no Inductor: 90 s, not 300
PARTS = ["tune", "encoder", "profile", "guard", "pixels", "stock", "ours", "tokens"]
RULE = {"vllm_xargs": {"ngram_size": 20, "window_size": 90, "whitelist_token_ids": [128821, 128822]}}


def versions() -> str:
    """What ran."""
    import torch

    names = ("vllm", "torch", "triton", "transformers", "pillow")
    card = torch.cuda.get_device_properties(0)
    found = [f"{name} {importlib.metadata.version(name)}" for name in names]
    return f"{card.name}, {card.total_memory / 2**30:.0f} GiB, {os.cpu_count()} cores; {', '.join(found)}.\n"


def flags_and_environment(which: str, guard: bool) -> tuple[list[str], dict[str, str]]:  # noqa: FBT001
    """How each of the two servers is started."""
    from pageloom_vllm import shape

    environment = {"VLLM_USE_V2_MODEL_RUNNER": "0", "VLLM_USE_FLASHINFER_SAMPLER": "0"}
    environment |= {"VLLM_WORKER_MULTIPROC_METHOD": "spawn", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    if which == "stock":
        more = ("--logits-processors", shape.STOCK_GUARD) if guard else ()
        return [*QUICK, *more], environment | {"PAGELOOM_VLLM": "0"}
    import torch

    memory = torch.cuda.get_device_properties(0).total_memory / 2**30
    asked = subprocess.run(
        [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", "--help=all"],
        capture_output=True, text=True, check=False, env=os.environ | environment,
    ).stdout  # fmt: skip
    advised = shape.serve_flags(os.cpu_count() or 1, memory, asked, guard=shape.GUARD if guard else "")
    return [*QUICK, *advised], environment | shape.serve_environment()


def measure(server: Server, count: int, tokens: int, pages: list[str], quick: bool) -> dict[str, Any]:  # noqa: FBT001
    """Every row of the table for one server."""
    got: dict[str, Any] = {"start_s": server.started_s, "pages": count}
    early = [load(server, [page_request(page, 16)], 1).seconds for page in pages[:10]]
    got |= {"request_1_s": early[0], "request_10_s": early[-1]}
    got["alone_first_s"], got["alone_s"] = alone(server, [page_request(page, tokens) for page in pages[10:15]])
    texts = [text_request(seed, tokens) for seed in range(5)]
    got["words_alone_first_s"], got["words_alone_s"] = alone(server, texts)
    with watched(server) as used:
        run = load(server, [page_request(page, tokens) for page in pages[:count]], 160)
    got |= {"pages_per_s": run.rate, "p50_s": run.percentile(0.5), "p95_s": run.percentile(0.95)} | used
    run = load(server, [page_request(page, 1) for page in pages[:count]], 160)
    got["first_per_s"] = run.rate
    if not quick:
        run = load(server, [page_request(page, tokens, **RULE) for page in pages[:count]], 160)
        got["guarded_per_s"] = run.rate
        run = load(server, [text_request(seed, tokens) for seed in range(count)], 160)
        got["words_per_s"] = run.rate
        run = load(server, [page_request(page, 900) for page in pages[:23]], 23)
        got["pages_23_s"] = run.seconds
        got["words_23_s"] = load(server, [text_request(seed, 900) for seed in range(23)], 23).seconds
    return got


def run_server(which: str, asked: argparse.Namespace) -> None:
    """Start one of the two, measure, keep the numbers and the answers."""
    start = time.perf_counter()
    count = asked.stock_pages if which == "stock" else asked.pages
    pages = servers.pages(max(asked.pages, 40))
    flags, environment = flags_and_environment(which, guard=which != "stock")
    flags += asked.flag
    with served(which, asked.checkpoint, flags, environment, asked.out) as server:
        got = measure(server, count, asked.tokens, pages, quick=which == "stock")
        answers = servers.logprobs(server, [page_request(page, 64) for page in pages[:20]])
        switched = [line for line in server.log.read_text().splitlines() if "pageloom" in line.lower()]
    got["flags"] = flags
    got["said"] = sorted({line.split("]", 1)[-1].strip() for line in switched})[:6]
    (asked.out / f"{which}.json").write_text(json.dumps(got, indent=1))
    (asked.out / f"{which}-answers.json").write_text(json.dumps(answers))
    print(f"{which}: {time.perf_counter() - start:.0f} s in all;", json.dumps(got), flush=True)


def first_difference(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> tuple[int, float] | None:
    """Step at which two greedy answers part, and how far apart the first's two best were there."""
    for step, (left, right) in enumerate(zip(one, other, strict=True)):
        if left["token"] != right["token"]:
            best = sorted((entry["logprob"] for entry in left["top_logprobs"]), reverse=True)
            return step, best[0] - best[1]
    return None


def compare_tokens(out: Path) -> str:
    """Greedy tokens of 20 pages, stock against ours."""
    stock, ours = (json.loads((out / f"{which}-answers.json").read_text()) for which in ("stock", "ours"))
    parted = [first_difference(*pair) for pair in zip(stock, ours, strict=True)]
    gaps = sorted(gap for found in parted if found for gap in [found[1]])
    steps = sorted(found[0] for found in parted if found)
    return (
        f"Of {len(parted)} pages x 64 greedy tokens, {parted.count(None)} are equal throughout. The others part at "
        f"steps {steps}, where the two best log-probabilities differ by {[round(gap, 4) for gap in gaps]}.\n"
    )


ROWS = (
    ("server throughput, pages/s", "pages_per_s", ">= 20"),
    ("the same with the n-gram guard on (20/90), pages/s", "guarded_per_s", "-"),
    ("first token only, pages/s", "first_per_s", ">= 25"),
    ("p50 at 160 in flight, s", "p50_s", "<= 8"),
    ("p95 at 160 in flight, s", "p95_s", "<= 10"),
    ("one page alone: first words, s", "alone_first_s", "<= 0.15"),
    ("one page alone: 512 tokens, s", "alone_s", "<= 1.15 x next row"),
    ("language model alone, 1 in flight: 512 tokens, s", "words_alone_s", "-"),
    ("language model alone, 160 in flight, requests/s", "words_per_s", "-"),
    ("23 pages at once, 900 tokens each, s", "pages_23_s", "<= 1.2 x next row"),
    ("language model alone, 23 at once, 900 tokens each, s", "words_23_s", "-"),
    ("first request after start, 16 tokens, s", "request_1_s", "<= 1.1 x next row"),
    ("tenth request, s", "request_10_s", "-"),
    ("start, s", "start_s", "-"),
    ("GPU busy while pages run, % (nvidia-smi)", "gpu_busy_percent", "-"),
    ("GPU power meanwhile, W", "gpu_watts", "-"),
    ("cores used by the engine process", "engine_cores", "-"),
    ("cores used by the API servers", "api_cores", "-"),
)


def summary(out: Path) -> str:
    """The table of issue and documentation, from what has been measured."""
    columns = {w: json.loads(path.read_text()) for w in ("stock", "ours") if (path := out / f"{w}.json").exists()}

    def cell(which: str, key: str) -> str:
        number = columns.get(which, {}).get(key)
        return "-" if number is None else f"{number:.3g}" if number < 10 else f"{number:.1f}"

    return table(("", "stock", "ours", "target"), [(name, cell("stock", k), cell("ours", k), t) for name, k, t in ROWS])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("out/gpu"))
    parser.add_argument(
        "--only", nargs="*", default=["encoder", "tune", "profile", "pixels", "stock", "ours", "tokens"]
    )
    parser.add_argument("--pages", type=int, default=320)
    parser.add_argument("--stock-pages", type=int, default=320)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--no-stock-encoder", action="store_true", help="do not time stock's encoder again")
    parser.add_argument("--flag", action="append", default=[], help="one more word for vllm serve, may be repeated")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    print(versions(), flush=True)
    report(asked)


def report(asked: argparse.Namespace) -> None:
    """Run the parts that were asked for, in their order."""
    import encoder

    if {"stock", "ours", "pixels"} & set(asked.only) and not (asked.checkpoint / "model.safetensors").exists():
        script = ROOT / "tests" / "vllm" / "tiny_checkpoint.py"
        full = ("--vision", "full", "--language", "full", "--dtype", "bfloat16", "--device", "cuda")
        subprocess.run([sys.executable, script, asked.checkpoint, *full], check=True)
    import guard
    import pixels

    parts: dict[str, Any] = {
        "guard": guard.cost,
        "pixels": lambda: pixels.cost(asked.checkpoint),
        "tune": encoder.tune,
        "encoder": lambda: "\n".join(
            [encoder.equality(), encoder.ceilings(), encoder.speed(not asked.no_stock_encoder)]
        ),
        "profile": lambda: encoder.profile(not asked.no_stock_encoder),
        "stock": lambda: run_server("stock", asked),
        "ours": lambda: run_server("ours", asked),
        "tokens": lambda: compare_tokens(asked.out),
    }
    for name, part in parts.items():
        if name in asked.only:
            start = time.perf_counter()
            said = part()
            print(f"## {name} ({time.perf_counter() - start:.0f} s)\n\n{said or ''}", flush=True)
    if any((asked.out / f"{which}.json").exists() for which in ("stock", "ours")):
        print(summary(asked.out), flush=True)


if __name__ == "__main__":
    main()
