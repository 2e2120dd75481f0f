"""One way to ask any engine: those on the event loop, and those in child processes."""

from collections.abc import Callable
from contextlib import aclosing
from typing import Protocol

from pageloom.contracts import Engine
from pageloom.errors import EngineDead
from pageloom.model.document import EngineName
from pageloom.model.reading import BlockEvent, Delta, PageRequest, Reading
from pageloom.pipeline.wire import PassingImage
from pageloom.pipeline.workers import EngineSpec, Workers

Events = Callable[[int, BlockEvent | Delta], None]
"""Told the page number and what was read of it so far; must return at once."""


def unheard(number: int, event: BlockEvent | Delta) -> None:
    """For runs that nobody watches."""


class Asker(Protocol):
    """An engine as the ladder sees it."""

    name: EngineName

    async def read(self, request: PageRequest, passing: PassingImage | None, events: Events) -> Reading:
        """Read a page.

        Raises:
            EngineUnavailable, EngineTimeout, EngineDead, LanguageUnsupported, UnreadablePage
        """
        ...


class WorkerAsker:
    """Asks an engine that lives in the reader processes."""

    def __init__(self, name: EngineName, workers: Workers, spec: EngineSpec) -> None:
        self.name = name
        self._workers = workers
        self._spec = spec

    async def read(self, request: PageRequest, passing: PassingImage | None, events: Events) -> Reading:
        """Read a page in a child process; its blocks come all at once."""
        reading = await self._workers.read(self._spec, request, passing)
        for block in reading.blocks:
            events(request.number, BlockEvent(block))
        return reading


class LoopAsker:
    """Asks an engine on the event loop."""

    def __init__(self, engine: Engine) -> None:
        self.name = engine.name
        self.capacity = engine.capacity
        self._engine = engine

    async def read(self, request: PageRequest, passing: PassingImage | None, events: Events) -> Reading:
        """Read a page; leaving early closes the iterator, which frees the page in the engine."""
        del passing
        async with aclosing(self._engine.read(request)) as items:  # type: ignore[type-var]
            async for item in items:
                if isinstance(item, Reading):
                    return item
                events(request.number, item)
        raise EngineDead(f"engine {self.name.name!r} ended page {request.number} without a reading")
