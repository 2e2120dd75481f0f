"""Pages a second through our engine `openai` beside raw requests: same pages, same JPEGs, same server, one run.

    python benchmarks/engines/beside_raw.py --url http://127.0.0.1:8000 [--tokens 512] [--at 1,8,64,256] [--json OUT]
    python benchmarks/engines/beside_raw.py --checkpoint FOLDER            starts the server itself, on one GPU

Raw requests read whole answers and parse nothing. Ours stream, build blocks, watch for loops and tell every step. With
random weights the words loop, so the detector works but its finds are not acted on: both write the same tokens.
"""

import argparse
import asyncio
import base64
import json
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks/gpu"), str(ROOT / "packages/pageloom-vllm/src")]

import aiohttp  # noqa: E402 - the GPU host has no installed Pageloom

import pageloom.asking.answer as answers  # noqa: E402
from pageloom.asking.opening import opened  # noqa: E402
from pageloom.asking.server import Limits  # noqa: E402
from pageloom.dialects.deepseek_ocr2 import DIALECT  # noqa: E402
from pageloom.model.image import EncodedImage  # noqa: E402
from pageloom.model.reading import Decoding, PageRequest, Reading  # noqa: E402
from pageloom.trust.loops import Loop, LoopDetector  # noqa: E402

PAGES = {1: 4, 8: 40, 64: 256, 256: 640}
WORDS = "<|grounding|>Convert the document to markdown."
GUARD = {"ngram_size": 20, "window_size": 90, "whitelist_token_ids": [128821, 128822]}


class Watching(LoopDetector):
    """Looks at every token, says nothing."""

    def feed(self, text: str) -> Loop | None:
        """All the work of a look, and no find."""
        for token in self._tokens(text):
            self._take(token)
        return None


def jpegs(count: int) -> list[EncodedImage]:
    """Different A4 pages of print."""
    from servers import A4_PX, pages

    return [EncodedImage(base64.b64decode(url.split(",", 1)[1]), *A4_PX) for url in pages(count)]


async def raw(url: str, bodies: list[bytes], at_once: int) -> tuple[float, list[int]]:
    """Seconds for all pages, and the tokens of each."""
    gate = asyncio.Semaphore(at_once)
    written: list[int] = []
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=600)) as session:

        async def one(body: bytes) -> None:
            async with gate, session.post(f"{url}/v1/chat/completions", data=body, headers=JSON) as response:
                told = json.loads(await response.read())
                written.append(told["usage"]["completion_tokens"])

        began = time.perf_counter()
        await asyncio.gather(*(one(body) for body in bodies))
        return time.perf_counter() - began, written


JSON = {"Content-Type": "application/json"}


def raw_body(model: str, page: EncodedImage, tokens: int, *, scores: bool) -> bytes:
    url = "data:image/jpeg;base64," + base64.b64encode(page.jpeg).decode()
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": WORDS}]
    body = {
        "model": model,
        "messages": [{"role": "user", "content": content}],
        "max_tokens": tokens,
        "temperature": 0,
        "skip_special_tokens": False,
        "vllm_xargs": GUARD,
    }
    if scores:
        body |= {"logprobs": True, "top_logprobs": 0}
    return json.dumps(body).encode()


async def ours(engine: Any, pages: list[EncodedImage], tokens: int, at_once: int) -> tuple[float, list[int]]:  # noqa: ANN401
    """The same through the engine."""
    gate = asyncio.Semaphore(at_once)
    written: list[int] = []

    async def one(number: int, page: EncodedImage) -> None:
        request = PageRequest(number, None, None, encoded=page, decoding=Decoding(tokens), attempt=str(number))
        async with gate:
            async for item in engine.read(request):
                if isinstance(item, Reading):
                    written.append(item.output_tokens)

    began = time.perf_counter()
    await asyncio.gather(*(one(number, page) for number, page in enumerate(pages, 1)))
    return time.perf_counter() - began, written


async def compare(url: str, tokens: int, levels: list[int], scale: float) -> list[dict[str, Any]]:
    """One row a level of concurrency; raw and ours take turns, each twice."""
    answers.LoopDetector = Watching  # type: ignore[misc]
    pages = jpegs(max(int(PAGES.get(level, 4 * level) * scale) for level in levels))
    rows = []
    async with opened("openai", [url], None, DIALECT, Limits(first_token_s=300, stall_s=120)) as opening:
        with_scores = await opening.engine("", max(levels))
        without = await opening.engine("", max(levels), logprobs=False)
        model = with_scores.name.model
        await ours(with_scores, pages[:8], 64, 8)
        await raw(url, [raw_body(model, page, 64, scores=False) for page in pages[:8]], 8)
        for level in levels:
            some = pages[: max(level, int(PAGES.get(level, 4 * level) * scale))]
            rows.append(await _row(url, model, {"ours": with_scores, "ours, no scores": without}, some, tokens, level))
            print(json.dumps(rows[-1]), flush=True)
    return rows


async def _row(
    url: str, model: str, engines: dict[str, Any], pages: list[EncodedImage], tokens: int, level: int
) -> dict[str, Any]:
    best: dict[str, float] = {}
    counts: dict[str, int] = {}
    cpu: dict[str, float] = {}
    bodies = {
        "raw": [raw_body(model, page, tokens, scores=False) for page in pages],
        "raw, scores": [raw_body(model, page, tokens, scores=True) for page in pages],
    }
    order = [*bodies, *engines] * 2
    random.Random(level).shuffle(order)
    for way in order if level > 1 else [*bodies, *engines]:
        began = time.process_time()
        if way in bodies:
            seconds, written = await raw(url, bodies[way], level)
        else:
            seconds, written = await ours(engines[way], pages, tokens, level)
        used = (time.process_time() - began) / len(pages) * 1000
        best[way] = max(best.get(way, 0.0), len(pages) / seconds)
        counts[way] = sum(written)
        cpu[way] = min(cpu.get(way, used), used)
    return {
        "in flight": level,
        "pages": len(pages),
        **{f"{way}, pages/s": round(rate, 3) for way, rate in best.items()},
        "ours / raw, scores": round(best["ours"] / best["raw, scores"], 3),
        "ours, no scores / raw": round(best["ours, no scores"] / best["raw"], 3),
        "tokens": counts,
        "client CPU ms a page": {way: round(ms, 1) for way, ms in cpu.items()},
    }


@contextmanager
def server(checkpoint: Path, out: Path) -> Iterator[str]:
    """A server with full-size weights and our plug-in, as benchmarks/gpu starts it."""
    from bench import flags_and_environment
    from servers import served

    flags, environment = flags_and_environment("ours", guard=True)
    with served("beside", checkpoint, flags, environment, out) as running:
        print(f"server up after {running.started_s:.0f} s", flush=True)
        yield running.address


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--url")
    options.add_argument("--checkpoint", type=Path)
    options.add_argument("--tokens", type=int, default=512)
    options.add_argument("--at", default="1,8,64,256")
    options.add_argument("--scale", type=float, default=1.0, help="part of the usual number of pages")
    options.add_argument("--json", type=Path)
    options.add_argument("--out", type=Path, default=Path())
    given = options.parse_args()
    levels = [int(level) for level in given.at.split(",")]
    if given.url:
        rows = asyncio.run(compare(given.url.rstrip("/"), given.tokens, levels, given.scale))
    else:
        with server(given.checkpoint, given.out) as url:
            rows = asyncio.run(compare(url, given.tokens, levels, given.scale))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
