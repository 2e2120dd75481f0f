"""The managed server as an engine: it is restarted when it dies, and its pages are told so."""

import logging
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from pageloom.asking.opening import Opening, opened
from pageloom.asking.replicas import Breaker
from pageloom.asking.served import ServedEngine
from pageloom.asking.server import Limits
from pageloom.contracts import Dialect
from pageloom.engines.vllm import found
from pageloom.engines.vllm.child import Child, free_port, healthy
from pageloom.engines.vllm.plan import Gpu, Wish, plan
from pageloom.errors import EngineUnavailable
from pageloom.model.reading import BlockEvent, Delta, PageRequest, Reading

if TYPE_CHECKING:
    from pageloom.engines.vllm import VllmOptions

log = logging.getLogger(__name__)


class ManagedEngine:
    """Reads pages on servers that are ours.

    A page that is being read when its server dies ends with `EngineDead`; the ladder puts it to the engine again under
    a new attempt id, and the first page to come restarts the server while the others wait.
    """

    def __init__(self, served: ServedEngine, children: list[Child], start_s: float, restarts: int) -> None:
        self.name = served.name
        self.capacity = served.capacity
        self.served = served
        self.children = children
        self._start_s = start_s
        self._restarts_left = restarts
        self._lock = anyio.Lock()
        served.dead = self._any_dead

    async def read(self, request: PageRequest) -> AsyncIterator[BlockEvent | Delta | Reading]:
        """Read a page, on servers that run."""
        if self._lock.locked() or any(not child.running for child in self.children):
            await self._revive()
        async with aclosing(self.served.read(request)) as events:  # type: ignore[type-var]
            async for event in events:
                yield event

    async def _any_dead(self) -> bool:
        """Whether a server has ended, or lives without its engine; such a one is stopped.

        Looked at one page after the other, and not while a server is being started again: that one is not well either.
        """
        seen = [child.starts for child in self.children]
        async with self._lock:
            if seen != [child.starts for child in self.children]:
                return True
            return any([await self._ended(child) for child in self.children])

    async def _ended(self, child: Child) -> bool:
        if not child.running:
            return True
        if await healthy(child.url) or await healthy(child.url):
            return False
        log.warning("server is not well, it is stopped", extra={"url": child.url})
        await child.stop()
        return True

    async def _revive(self) -> None:
        """Start the dead servers again.

        Raises:
            EngineUnavailable: a server does not start, or has died too often.
        """
        async with self._lock:
            for child, replica in zip(self.children, self.served.replicas.all, strict=True):
                if child.running:
                    continue
                if self._restarts_left < 1:
                    raise EngineUnavailable(f"vllm has died {child.starts} times; its log ends:\n{child.last_lines()}")
                self._restarts_left -= 1
                log.warning("server has died and is started again", extra={"url": child.url})
                await child.stop()
                await child.launch()
                await child.ready(self._start_s)
                replica.breaker = Breaker()


@asynccontextmanager
async def opened_managed(options: "VllmOptions", dialect: Dialect) -> AsyncIterator[ManagedEngine]:
    """Servers started, looked at and proved; stopped at the end of the block.

    Raises:
        EngineUnavailable: one does not start, or does not pass its probes.
    """
    async with AsyncExitStack() as stack:
        folder = options.logs or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pageloom-vllm-")))
        children, sequences = _children(options, folder)
        for child in children:
            stack.push_async_callback(child.stop)
        for child in children:  # all at once: a start takes a minute or two
            await child.launch()
        for child in children:
            await child.ready(options.start_s)
        limits = Limits(first_token_s=options.first_token_s, stall_s=options.stall_s)
        urls = [child.url for child in children]
        opening: Opening = await stack.enter_async_context(opened("vllm", urls, None, dialect, limits))
        served = await opening.engine("", sequences, logprobs=options.logprobs)
        if options.canary:
            await opening.canary(served, options.canary_s)
        yield ManagedEngine(served, children, options.start_s, options.restarts)


def _children(options: "VllmOptions", logs: Path) -> tuple[list[Child], int]:
    """One server a GPU (or a group of GPUs that share one model), and the pages each is given at once."""
    command = found.vllm_command(options.command)
    if command is None:
        raise EngineUnavailable("no vllm program was found: pip install 'pageloom[vllm]'")
    installed = found.installed(command)
    gpus = () if installed.cpu else found.gpus()
    servers = options.gpus or max(1, len(gpus) // options.tensor_parallel)
    cores = max(1, (os.cpu_count() or 1) // servers)
    children = []
    sequences = 1
    for number in range(servers):
        port = free_port()
        planned = plan(_wish(options, port), installed, _gpu(gpus, number), cores)
        environment = dict(planned.environment)
        if len(gpus) > 1:
            first = number * options.tensor_parallel
            shown = range(first, first + options.tensor_parallel)
            environment["CUDA_VISIBLE_DEVICES"] = ",".join(str(gpu) for gpu in shown)
        url = f"http://127.0.0.1:{port}"
        children.append(Child(planned.arguments, environment, url, logs / f"vllm-{number}.log"))
        sequences = planned.sequences
        log.info("server planned", extra={"why": "; ".join(planned.why), "left_out": planned.left_out})
    return children, sequences


def _gpu(gpus: tuple[Gpu, ...], number: int) -> Gpu | None:
    return gpus[number % len(gpus)] if gpus else None


def _wish(options: "VllmOptions", port: int) -> Wish:
    return Wish(
        model=options.model,
        port=port,
        gpu_share=options.gpu_share,
        tensor_parallel=options.tensor_parallel,
        api_servers=options.api_servers,
        sequences=options.sequences,
        quantization=options.quantization,
        dtype=options.dtype,
        extra=options.extra,
    )
