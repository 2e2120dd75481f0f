"""`vllm serve` started and stopped, pages sent to it, what it used meanwhile."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

MODEL = "ocr"
PROMPT = "<|grounding|>Convert the document to markdown."
A4_PX = (1191, 1684)  # at 144 dpi
COMMON = (
    *("--served-model-name", MODEL, "--dtype", "bfloat16", "--max-model-len", "8192"),
    *("--limit-mm-per-prompt", '{"image":1}', "--no-enable-prefix-caching", "--mm-processor-cache-gb", "0"),
)


def page_jpeg(seed: int, size: tuple[int, int] = A4_PX) -> bytes:
    """A page of words, and a grey picture, as a scanner would store it."""
    from PIL import Image, ImageDraw

    draw, dice = None, random.Random(seed)
    page = Image.new("RGB", size, (252, 251, 247))
    draw = ImageDraw.Draw(page)
    for y in range(90, size[1] - 400, 22):
        letters = "".join(dice.choice("etaoin shrdlu cmfwyp vbgkjq") for _ in range(150))
        draw.text((90, y), letters, fill=(20, 20, 25))
    noise = Image.frombytes("L", (50, 15), dice.randbytes(750)).resize((1000, 300), Image.Resampling.BICUBIC)
    page.paste(noise, (90, size[1] - 370))
    file = io.BytesIO()
    page.save(file, "JPEG", quality=90)
    return file.getvalue()


def pages(count: int) -> list[str]:
    """Different pages as data: addresses."""
    with ProcessPoolExecutor() as pool:
        made = pool.map(page_jpeg, range(count), chunksize=8)
        return ["data:image/jpeg;base64," + base64.b64encode(jpeg).decode() for jpeg in made]


@dataclass
class Server:
    """A running `vllm serve`."""

    name: str
    address: str
    pid: int
    started_s: float
    log: Path
    notes: dict[str, Any] = field(default_factory=dict)


@contextlib.contextmanager
def served(
    name: str, checkpoint: Path, flags: Sequence[str], environment: dict[str, str], folder: Path
) -> Iterator[Server]:
    """Start a server, wait until it is healthy, stop it with all its children."""
    port = 8100 + sum(map(ord, name)) % 800
    log = folder / f"{name}.log"
    command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(checkpoint)]
    start = time.perf_counter()
    with log.open("w") as output:
        child = subprocess.Popen(
            [*command, *COMMON, "--port", str(port), "--host", "127.0.0.1", *flags],
            env=os.environ | environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        asyncio.run(_healthy(address, child, log))
        yield Server(name, address, child.pid, time.perf_counter() - start, log)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


async def _healthy(address: str, child: subprocess.Popen[bytes], log: Path) -> None:
    async with aiohttp.ClientSession() as session:
        while True:
            if child.poll() is not None:
                said = log.read_text()[-4000:]  # noqa: ASYNC240 - nothing else runs
                raise SystemExit(f"server ended with {child.returncode}:\n{said}")
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"{address}/health") as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(0.5)


def page_request(page: str, tokens: int, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Body of a chat request for one page, greedy, always of full length."""
    content = [{"type": "image_url", "image_url": {"url": page}}, {"type": "text", "text": PROMPT}]
    return {
        "model": MODEL, "messages": [{"role": "user", "content": content}], "max_tokens": tokens,
        "temperature": 0, "ignore_eos": True, "skip_special_tokens": False, **more,
    }  # fmt: skip


def text_request(seed: int, tokens: int, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """As many prompt tokens as a page has, but words: the language model alone."""
    dice = random.Random(seed)
    ids = [0, *(dice.randrange(10, 120000) for _ in range(1130))]
    return {"model": MODEL, "prompt": ids, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, **more}


@dataclass
class Load:
    """What a run of requests took."""

    seconds: float
    latencies_s: list[float]

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.latencies_s) / self.seconds

    def percentile(self, share: float) -> float:
        """Seconds within which this share of the requests was answered."""
        ordered = sorted(self.latencies_s)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _path(body: dict[str, Any]) -> str:
    return "/v1/chat/completions" if "messages" in body else "/v1/completions"


async def _send(server: Server, bodies: Sequence[dict[str, Any]], in_flight: int) -> Load:
    gate, latencies = asyncio.Semaphore(in_flight), []
    raw = [(_path(body), json.dumps(body).encode()) for body in bodies]
    timeout, connector = aiohttp.ClientTimeout(total=500), aiohttp.TCPConnector(limit=0, force_close=True)
    async with aiohttp.ClientSession(timeout=timeout, connector=connector) as session:

        async def one(path: str, body: bytes) -> None:
            async with gate:
                start = time.perf_counter()
                headers = {"Content-Type": "application/json"}
                async with session.post(server.address + path, data=body, headers=headers) as answer:
                    if answer.status != 200:
                        raise RuntimeError(f"{answer.status}: {(await answer.text())[:300]}")
                    await answer.read()
                latencies.append(time.perf_counter() - start)

        start = time.perf_counter()
        await asyncio.gather(*(one(path, body) for path, body in raw))
        return Load(time.perf_counter() - start, latencies)


def load(server: Server, bodies: Sequence[dict[str, Any]], in_flight: int) -> Load:
    """Send all, keeping this many in flight."""
    return asyncio.run(_send(server, bodies, in_flight))


async def _stream(server: Server, body: dict[str, Any]) -> tuple[float, float]:
    async with aiohttp.ClientSession() as session:
        start, first = time.perf_counter(), 0.0
        async with session.post(server.address + _path(body), json=body | {"stream": True}) as answer:
            async for line in _events(answer):
                choices = json.loads(line).get("choices") or [{}]
                said = choices[0].get("text") or choices[0].get("delta", {}).get("content")
                if said and not first:
                    first = time.perf_counter() - start
        return first, time.perf_counter() - start


async def _events(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    async for line in answer.content:
        if line.startswith(b"data: {"):
            yield line[6:]


def alone(server: Server, bodies: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Median seconds to the first word and to the end, of requests sent one after another."""
    taken = [asyncio.run(_stream(server, body)) for body in bodies]
    return statistics.median(t[0] for t in taken), statistics.median(t[1] for t in taken)


def logprobs(server: Server, bodies: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Each answer's tokens, each with its two best log-probabilities."""

    async def all_of_them() -> list[list[dict[str, Any]]]:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=500)) as session:

            async def one(body: dict[str, Any]) -> list[dict[str, Any]]:
                async with session.post(server.address + _path(body), json=body) as answer:
                    content: list[dict[str, Any]] = (await answer.json())["choices"][0]["logprobs"]["content"]
                    return content

            return list(await asyncio.gather(*map(one, bodies)))

    more = {"logprobs": True, "top_logprobs": 2, "return_tokens_as_token_ids": True}
    bodies = [body | more for body in bodies]
    return asyncio.run(all_of_them())


@contextlib.contextmanager
def watched(server: Server) -> Iterator[dict[str, float]]:
    """GPU utilisation and the cores that the server's processes use, while the block runs."""
    import psutil

    found: dict[str, float] = {}
    command = ["nvidia-smi", "--query-gpu=utilization.gpu,power.draw", "--format=csv,noheader,nounits", "-lms", "250"]
    smi = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    processes = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]

    def used() -> dict[int, float]:
        times = {}
        for process in processes:
            with contextlib.suppress(psutil.Error):
                times[process.pid] = sum(process.cpu_times()[:2])
        return times

    before, start = used(), time.perf_counter()
    try:
        yield found
    finally:
        seconds, after = time.perf_counter() - start, used()
        smi.terminate()
        lines = [line.split(",") for line in smi.communicate()[0].splitlines() if line.count(",") == 1]
        if lines:
            found["gpu_busy_percent"] = statistics.fmean(float(line[0]) for line in lines)
            found["gpu_watts"] = statistics.fmean(float(line[1]) for line in lines)
        cores = {pid: (after[pid] - before.get(pid, 0)) / seconds for pid in after}
        names = {process.pid: _role(process) for process in processes}
        for role in ("engine", "api"):
            shares = [share for pid, share in cores.items() if names[pid] == role]
            found[f"{role}_cores"] = sum(shares)


def _role(process: Any) -> str:  # noqa: ANN401 - a psutil.Process
    import psutil

    with contextlib.suppress(psutil.Error):
        title = process.name() + " ".join(process.cmdline())
        return "engine" if "EngineCore" in title else "api"
    return "api"
