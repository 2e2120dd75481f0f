"""Pages put to servers: the engine behind `openai` (servers elsewhere) and `vllm` (a server of our own)."""

import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from pageloom.asking.answer import Answer, Usage
from pageloom.asking.decoding import decoding_for
from pageloom.asking.picture import picture
from pageloom.asking.replicas import Replica, Replicas
from pageloom.asking.server import Refused, Server, Traits, Unreachable, page_body
from pageloom.contracts import Dialect, ImageSize
from pageloom.errors import EngineDead, EngineError, EngineTimeout, EngineUnavailable
from pageloom.model.document import EngineName
from pageloom.model.reading import BlockEvent, Delta, PageRequest, Reading

TRANSPORT_TRIES = 4  # SERVING.md 3.3: full jitter 0.2 * 2^k, at most 5 s
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 5.0
GONE_LOOK_S = 0.2  # how soon it asks whether a server that fails has died
LOOK_S = 0.05  # how often a page looks for a free server while all are full


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a page waits for a server to take it, in seconds: while all are busy, and while none is well."""

    busy_s: float = 600.0
    gone_s: float = 60.0


class ServedEngine:
    """Reads pages on one or several servers of the same model."""

    def __init__(
        self, name: EngineName, dialect: Dialect, servers: Mapping[str, Server], traits: Traits, most_each: int
    ) -> None:
        self.name = name
        self.dialect = dialect
        self.traits = traits
        self.servers = dict(servers)
        self.replicas = Replicas(list(servers), most_each)
        self.capacity = most_each * len(self.servers)
        self.patience = Patience()
        self.dead: Callable[[], Awaitable[bool]] = _never
        """Whether a server that broke off has died; asked by the engine that owns the server."""
        self.notes: tuple[str, ...] = () if traits.guard else ("ngram_guard_off",)

    async def read(self, request: PageRequest) -> AsyncIterator[BlockEvent | Delta | Reading]:
        """Read a page.

        A connection that breaks off is tried again, elsewhere if possible, from the page's beginning. A server that
        says "later" is no fault: the page waits its turn and does not use up its tries.
        """
        body = self._body(request)
        broken = refused = 0
        deadline = anyio.current_time() + self.patience.busy_s
        while True:
            replica = await self._free_server(request.number)
            try:
                async with aclosing(self._asked(replica, body, request)) as events:
                    async for event in events:
                        yield event
            except Refused as busy:
                refused += 1
                if anyio.current_time() > deadline:
                    raise
                await anyio.sleep(max(busy.after_s, _jitter(refused)))
            except Unreachable as error:
                broken += 1
                await self._after_break(error, broken, request.number)
            else:
                return

    async def _after_break(self, error: Unreachable, broken: int, number: int) -> None:
        """Wait a little before a broken page is asked again; a dead server's page goes back to the queue."""
        if await self.dead():
            raise EngineDead(f"page {number}: the server died: {error}") from error
        if broken == TRANSPORT_TRIES:
            raise error
        await anyio.sleep(_jitter(broken))

    def _body(self, request: PageRequest) -> bytes:
        shown = picture(request, None if request.tiles else self.dialect.untiled_px)
        prompt = self.dialect.ask(request.ask, ImageSize(shown.width_px, shown.height_px))
        decoding = decoding_for(prompt, request.decoding)
        return page_body(self.name.model, shown, prompt.text, decoding, self.traits, request.priority)

    async def _free_server(self, number: int) -> Replica:
        """A server with a free place.

        Raises:
            EngineUnavailable: all are busy, or none is well, for longer than our patience.
            EngineDead: none is well because a server of our own has died; its successor will take the page.
        """
        began = looked = anyio.current_time()
        while (replica := self.replicas.pick()) is None:
            waited = anyio.current_time() - began
            gone = self.replicas.gave_up()
            if gone and anyio.current_time() - looked > GONE_LOOK_S:
                looked = anyio.current_time()
                if await self.dead():
                    raise EngineDead(f"page {number}: the server died before it took this page")
            if waited > (self.patience.gone_s if gone else self.patience.busy_s):
                why = "no server is reachable" if gone else "all servers are full"
                raise EngineUnavailable(f"page {number}: {why} for {waited:.0f} s: {', '.join(self.servers)}")
            await anyio.sleep(LOOK_S)
        return replica

    async def _asked(
        self, replica: Replica, body: bytes, request: PageRequest
    ) -> AsyncGenerator[BlockEvent | Delta | Reading]:
        """One answer of one server, with what it teaches about that server."""
        try:
            async with aclosing(self._answer(self.servers[replica.url], body, request)) as events:
                async for event in events:
                    yield event
        except Unreachable:
            replica.breaker.done(well=False)
            raise
        except EngineError as error:
            replica.breaker.done(well=not isinstance(error, EngineTimeout))
            replica.limit.refused()
            raise
        except BaseException:
            replica.breaker.left()
            raise
        else:
            replica.breaker.done(well=True)
            replica.limit.well(replica.outstanding)
        finally:
            replica.outstanding -= 1

    async def _answer(
        self, server: Server, body: bytes, request: PageRequest
    ) -> AsyncGenerator[BlockEvent | Delta | Reading]:
        answer = Answer(request, self.dialect, self.name)
        finish = "stop"
        usage = Usage()
        async with aclosing(server.stream(body)) as pieces:
            async for piece in pieces:
                for text, logprobs in piece.worded():
                    for event in answer.take(text, logprobs):
                        yield event
                finish = piece.finish or finish
                if piece.output_tokens:
                    usage = Usage(piece.prompt_tokens, piece.output_tokens)
                if answer.loop:
                    break
        yield answer.reading(finish, usage, self.notes)


async def _never() -> bool:
    return False


def _jitter(tried: int) -> float:
    """Seconds to wait before the next try: anything up to 0.2 * 2^tried, so that pages do not come back as one."""
    return random.uniform(0, min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**tried))  # noqa: S311 - spreads load, guards nothing
