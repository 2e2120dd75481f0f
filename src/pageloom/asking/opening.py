"""Servers are opened for an engine: those that answer, what they honour, and that they can read."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from pageloom.asking.probes import look, read_canary, served_model
from pageloom.asking.served import ServedEngine
from pageloom.asking.server import Limits, Server, Traits, Unreachable, opened_session
from pageloom.contracts import Dialect
from pageloom.errors import EngineUnavailable
from pageloom.model.document import EngineName

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Opening:
    """Servers about to become an engine."""

    engine_name: str
    servers: dict[str, Server]
    dialect: Dialect

    async def engine(self, model: str, most_each: int, *, logprobs: bool = True) -> ServedEngine:
        """Look at every server; those that cannot be reached now are kept as replicas that may come back.

        Raises:
            EngineUnavailable: none is reachable, one is not what it should be, or they serve different models.
        """
        seen: dict[str, tuple[str, Traits]] = {}
        lost: list[str] = []
        for url, server in self.servers.items():
            try:
                name = await served_model(server, model)
                seen[url] = (name, await look(server, self.dialect, name))
            except Unreachable as error:
                log.warning("server unreachable at start", extra={"server": server.root})
                lost.append(str(error))
        if not seen:
            raise EngineUnavailable(f"no server is reachable: {'; '.join(lost)}")
        names = {name for name, _ in seen.values()}
        if len(names) > 1:
            raise EngineUnavailable(f"the servers have different models: {', '.join(sorted(names))}")
        traits = _least([traits for _, traits in seen.values()])
        version = f"vllm {traits.vllm}" if traits.vllm else ""
        about = EngineName(name=self.engine_name, version=version, model=names.pop())
        return ServedEngine(about, self.dialect, self.servers, replace(traits, logprobs=logprobs), most_each)

    async def canary(self, engine: ServedEngine, limit_s: float) -> str:
        """Let the engine read the known page; the sentence that tells how.

        Raises:
            EngineUnavailable: it cannot read it: wrong weights, a wrong tokenizer, a broken kernel.
        """
        result = await read_canary(engine, self.dialect.canary(), limit_s)
        log.info("canary read", extra={"error": result.error, "overlap": result.overlap, "seconds": result.seconds})
        if not result.ready:
            raise EngineUnavailable(
                f"engine {self.engine_name!r} is not ready: {result.told()}; are these the trained weights?"
                " (engine.options.canary=false opens it all the same)"
            )
        return result.told()


def _least(several: list[Traits]) -> Traits:
    """What all servers honour."""
    return Traits(
        vllm=several[0].vllm if all(one.vllm for one in several) else "",
        guard=all(one.guard for one in several),
        repetition=all(one.repetition for one in several),
        priority=all(one.priority for one in several),
    )


@asynccontextmanager
async def opened(
    engine_name: str, urls: list[str], key: str | None, dialect: Dialect, limits: Limits
) -> AsyncIterator[Opening]:
    """A session with servers; it ends with the block."""
    async with opened_session(limits, key) as session:
        yield Opening(engine_name, {url: Server(session, url, limits) for url in urls}, dialect)
