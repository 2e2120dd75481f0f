"""The advice names only flags that the given vLLM has, and fits the machine."""

from __future__ import annotations

import subprocess
import sys

from pageloom_vllm.shape import GUARD, api_servers, pages_at_once, serve_flags

HELP = "--dtype --max-model-len --max-num-seqs N --logits-processors --api-server-count"


def test_only_flags_that_exist() -> None:
    flags = serve_flags(16, 140, HELP)
    assert {word for word in flags if word.startswith("--")} == set(HELP.replace(" N ", " ").split())
    assert flags[flags.index("--logits-processors") + 1] == GUARD
    assert "--logits-processors" not in serve_flags(16, 140, HELP, guard="")


def test_a_part_of_a_flags_name_is_not_the_flag() -> None:
    assert serve_flags(2, 24, "--max-num-seqs-per-user") == []


def test_small_machines_get_less() -> None:
    assert [api_servers(cores) for cores in (1, 2, 4, 8, 16, 128)] == [1, 1, 1, 3, 7, 8]
    assert 4 <= pages_at_once(16) < pages_at_once(24) < pages_at_once(80) == pages_at_once(141) == 512


def test_asking_loads_nothing_heavy() -> None:
    code = "import sys, pageloom_vllm.shape; sys.exit(any(m in sys.modules for m in ('torch', 'vllm', 'numpy')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
