"""A server of our own: started, waited for, watched, restarted, stopped with us."""

import logging
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, STDOUT
from typing import IO

import aiohttp
import anyio
from anyio.abc import Process

from pageloom.errors import EngineUnavailable

log = logging.getLogger(__name__)

LOOK_S = 0.5
STOP_S = 20.0
HEALTH_S = 10.0  # a server that is merely busy answers sooner
TETHER = Path(__file__).with_name("tether.py")


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@dataclass(slots=True)
class Child:
    """One `vllm serve` process group.

    Attributes:
        line: the command and its arguments.
        environment: set on top of ours.
        log_file: stdout and stderr of every start, appended.
        starts: how often it was started.
    """

    line: tuple[str, ...]
    environment: Mapping[str, str]
    url: str
    log_file: Path
    process: Process | None = None
    starts: int = 0
    _log: IO[bytes] | None = field(default=None, repr=False)

    @property
    def running(self) -> bool:
        """Whether the process is there (it may still be loading)."""
        return self.process is not None and self.process.returncode is None

    async def launch(self) -> None:
        """Start it; `ready` waits for it."""
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        self._log = self.log_file.open("ab")
        settings = [f"{name}={value}" for name, value in self.environment.items()]
        tether = [sys.executable, str(TETHER), str(os.getpid())]
        # `env` sets the child's environment without our reading ours; a group of its own, so that a
        # Ctrl-C on the terminal reaches us alone and pages can still be finished.
        self.process = await anyio.open_process(
            [*tether, "/usr/bin/env", *settings, *self.line],
            stdin=DEVNULL,
            stdout=self._log,
            stderr=STDOUT,
            start_new_session=True,
        )
        self.starts += 1
        log.info("server started", extra={"pid": self.process.pid, "log": str(self.log_file)})

    async def ready(self, limit_s: float) -> None:
        """Wait until it answers.

        Raises:
            EngineUnavailable: it ended, or did not answer in time; the message has the end of its log.
        """
        with anyio.move_on_after(limit_s):
            while self.running:
                if await healthy(self.url):
                    return
                await anyio.sleep(LOOK_S)
        code = self.process.returncode if self.process else None
        why = f"did not answer within {limit_s:g} s" if code is None else f"ended with code {code}"
        await self.stop()
        raise EngineUnavailable(f"vllm {why}; the end of {self.log_file.name}:\n{self.last_lines()}")

    async def stop(self) -> None:
        """Ask it to end, then make it; returns when the whole group is gone. Never cancelled half way."""
        with anyio.CancelScope(shield=True):
            if self.process is not None:
                _signal_group(self.process.pid, signal.SIGTERM)
                with anyio.move_on_after(STOP_S):
                    await self.process.wait()
                _signal_group(self.process.pid, signal.SIGKILL)
                await self.process.wait()
                await self.process.aclose()
            if self._log is not None:
                self._log.close()

    def last_lines(self, count: int = 12) -> str:
        """The end of its log."""
        try:
            with self.log_file.open(encoding="utf-8", errors="replace") as lines:
                return "".join(deque(lines, maxlen=count)).strip()
        except OSError:
            return "(no log)"


def _signal_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        log.debug("server group is gone already")


async def healthy(url: str) -> bool:
    """Whether a server says that it is well."""
    timeout = aiohttp.ClientTimeout(total=HEALTH_S)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(f"{url}/health") as response:
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError, OSError):
        return False
