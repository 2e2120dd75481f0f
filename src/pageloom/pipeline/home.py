"""An event loop of our own in the background, so that the Python API works in scripts, notebooks, threads and loops."""

import asyncio
import atexit
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundLoop:
    """One daemon thread with an event loop; it starts with the first piece of work."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                threading.Thread(target=loop.run_forever, name="pageloom", daemon=True).start()
                self._loop = loop
            return self._loop

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and wait for it, from any thread but the loop's own; Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._running())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def run_from_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and await it in the caller's loop; cancelling the caller cancels it."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._running()))

    async def walk(self, items: AsyncIterator[T]) -> AsyncGenerator[T, None]:
        """Walk an asynchronous iterator that lives there, in the caller's loop."""

        async def following() -> tuple[T] | None:
            async for item in items:
                return (item,)
            return None

        try:
            while (found := await self.run_from_loop(following())) is not None:
                yield found[0]
        finally:
            closing = getattr(items, "aclose", None)
            if closing is not None:
                await self.run_from_loop(closing())

    def close_at_exit(self, work: Any) -> None:  # noqa: ANN401 - a coroutine function without arguments
        """Run a last coroutine there when the interpreter ends, for at most five seconds."""

        def close() -> None:
            if self._loop is not None and self._loop.is_running():
                asyncio.run_coroutine_threadsafe(work(), self._loop).result(5)

        atexit.register(close)
