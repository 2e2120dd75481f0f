"""A server of our own: started, restarted after a death, stopped with us."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pageloom.asking.served import Patience
from pageloom.engines.vllm import FACTORY, VllmOptions
from pageloom.engines.vllm.child import TETHER
from pageloom.engines.vllm.managed import ManagedEngine
from pageloom.errors import EngineUnavailable, ModelsMissing
from pageloom.model.document import Route
from pageloom.model.image import EncodedImage
from pageloom.model.reading import PageRequest
from pageloom.pipeline.askers import LoopAsker, unheard
from pageloom.pipeline.ladder import Climbed, RetryBudget, climb

FAKE = Path(__file__).with_name("fake_vllm.py")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux")


@dataclass
class How:
    engine: str = "vllm"
    native: None = None
    attempts: int = 1
    retries: RetryBudget = field(default_factory=RetryBudget)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The program `vllm`, as far as we call it."""
    file = tmp_path / "vllm"
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    file.chmod(0o755)
    return file


def options(program: Path, **more: object) -> VllmOptions:
    given = {"model": str(program.parent), "command": str(program), "canary": False, "gpus": 1, "start_s": 60, **more}
    return VllmOptions.model_validate(given)


def starts(program: Path) -> list[int]:
    return [int(line) for line in (program.parent / "starts").read_text().split()]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


async def page(engine: ManagedEngine, number: int) -> Climbed:
    request = PageRequest(number, None, None, encoded=EncodedImage(b"x", 600, 700), attempt=f"job/{number}")
    return await climb(Route(name="ocr"), request, None, {"vllm": LoopAsker(engine)}, How(), unheard)  # type: ignore[arg-type]


def test_it_is_stopped_with_us(program: Path) -> None:
    async def go() -> list[int]:
        async with FACTORY.open(options(program)) as engine:
            climbed = await page(engine, 1)  # type: ignore[arg-type]
            assert climbed.reading.engine.model == "deepseek-ocr-2"
            assert all(alive(pid) for pid in starts(program))
        return starts(program)

    assert not any(alive(pid) for pid in asyncio.run(go()))


def test_a_death_in_a_document_loses_and_doubles_no_page(program: Path) -> None:
    async def go() -> list[Climbed]:
        async with FACTORY.open(options(program, sequences=4)) as engine:
            engine.served.patience = Patience(gone_s=0.5)  # type: ignore[attr-defined]
            (program.parent / "slow").touch()  # a real start takes longer than pages wait for a server that is gone
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(page(engine, number)) for number in range(1, 21)]  # type: ignore[arg-type]
                await asyncio.sleep(0.3)
                (program.parent / "crash").touch()
            return [task.result() for task in tasks]

    pages = asyncio.run(go())
    assert [climbed.reading.raw.count("gauges") for climbed in pages] == [1] * 20
    assert [climbed.reading.blocks[0].id for climbed in pages] == [f"p{number}-b1" for number in range(1, 21)]
    outcomes = [attempt.outcome for climbed in pages for attempt in climbed.attempts]
    assert "engine_dead" in outcomes
    assert len(starts(program)) == 2


def test_a_server_that_dies_too_often_is_given_up(program: Path) -> None:
    async def go() -> None:
        async with FACTORY.open(options(program, restarts=0)) as engine:
            (program.parent / "crash").touch()
            await page(engine, 1)  # type: ignore[arg-type]

    with pytest.raises(EngineUnavailable, match="has died"):
        asyncio.run(go())


def test_a_start_that_fails_shows_the_end_of_the_log(program: Path) -> None:
    (program.parent / "refuse").touch()

    async def go() -> None:
        async with FACTORY.open(options(program)):
            pytest.fail("it was opened")

    with pytest.raises(EngineUnavailable, match="out of memory, as told"):
        asyncio.run(go())


def test_logs_are_kept_where_they_are_wanted(program: Path) -> None:
    async def go() -> None:
        async with FACTORY.open(options(program, logs=program.parent / "logs")):
            pass

    asyncio.run(go())
    assert (program.parent / "logs" / "vllm-0.log").is_file()


def test_only_flags_of_this_version_are_used(program: Path) -> None:
    async def go() -> tuple[str, ...]:
        async with FACTORY.open(options(program)) as engine:
            line: tuple[str, ...] = engine.children[0].line  # type: ignore[attr-defined]
            return line

    line = asyncio.run(go())
    assert "--max-num-seqs" in line
    assert "--scheduling-policy" not in line


def test_a_tethered_program_dies_with_its_parent(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    inner = f"import os,time;open({str(told)!r},'w').write(str(os.getpid()));time.sleep(60)"
    outer = (
        "import os,subprocess,sys,time;"
        f"subprocess.Popen([sys.executable,{str(TETHER)!r},str(os.getpid()),sys.executable,'-c',{inner!r}]);time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", outer])
    deadline = time.monotonic() + 30
    while (not told.exists() or not told.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    pid = int(told.read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


def test_what_is_missing_is_told() -> None:
    state = FACTORY.available(VllmOptions(command="/no/such/program"))
    assert "no vllm program" in state.reason

    async def go() -> None:
        async with FACTORY.open(VllmOptions()):
            pytest.fail("it was opened")

    with pytest.raises((ModelsMissing, EngineUnavailable)):
        asyncio.run(go())
