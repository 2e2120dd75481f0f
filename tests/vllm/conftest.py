"""Real engines on a tiny checkpoint of random numbers, each started once a session; collected in `.venv-vllm` only."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

collect_ignore_glob = [] if find_spec("vllm") and find_spec("torch") else ["test_*.py"]

if not collect_ignore_glob:
    with warnings.catch_warnings():
        # what vLLM and torch warn of while they are imported is theirs to mend
        warnings.simplefilter("ignore")
        import torch  # noqa: F401

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from pageloom.engines.transformers.engine import TransformersEngine
    from pageloom.engines.vllm.inside import InsideEngine
    from pageloom.engines.vllm.managed import ManagedEngine

ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "OMP_NUM_THREADS": "1",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
}
SEQUENCES = 4
QUEUED = 6  # requests the server lets wait; more are told 503


def pytest_configure(config: pytest.Config) -> None:
    """A warning of vLLM's or torch's is no failure of ours."""
    config.addinivalue_line("filterwarnings", "default")


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny checkpoint in the official layout."""
    os.environ.update(ENVIRONMENT)
    folder = tmp_path_factory.mktemp("checkpoint")
    maker = Path(__file__).with_name("tiny_checkpoint.py")
    subprocess.run([sys.executable, str(maker), str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """An event loop in a thread, in which engines live for the whole session."""
    from anyio.from_thread import start_blocking_portal

    with start_blocking_portal() as opened:
        yield opened


@pytest.fixture(scope="session")
def managed(
    checkpoint: Path, portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ManagedEngine]:
    """A `vllm serve` child of ours."""
    from pageloom.engines.vllm import FACTORY, VllmOptions

    options = VllmOptions(
        model=str(checkpoint),
        command=str(Path(sys.executable).with_name("vllm")),
        dtype="float32",
        sequences=SEQUENCES,
        canary=False,
        extra=("--distributed-executor-backend", "uni", "--max-num-queued-reqs", str(QUEUED)),
        logs=tmp_path_factory.mktemp("logs"),
        first_token_s=600,
        stall_s=300,
    )
    with portal.wrap_async_context_manager(FACTORY.open(options)) as engine:
        yield engine  # type: ignore[misc]


@pytest.fixture(scope="session")
def inside(checkpoint: Path, portal: BlockingPortal) -> Iterator[InsideEngine]:
    """An `AsyncLLM` in this process."""
    from pageloom.engines.vllm import FACTORY, VllmOptions

    options = VllmOptions(
        model=str(checkpoint),
        in_process=True,
        dtype="float32",
        sequences=2,
        canary=False,
        first_token_s=600,
        stall_s=300,
    )
    with portal.wrap_async_context_manager(FACTORY.open(options)) as engine:
        yield engine  # type: ignore[misc]


@pytest.fixture(scope="session")
def hugging_face(checkpoint: Path, portal: BlockingPortal) -> Iterator[TransformersEngine]:
    """The model in transformers."""
    from pageloom.engines.transformers import FACTORY, TransformersOptions

    options = TransformersOptions(model=str(checkpoint), canary=False, batch=2)
    with portal.wrap_async_context_manager(FACTORY.open(options)) as engine:
        yield engine  # type: ignore[misc]
