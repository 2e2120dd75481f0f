"""What a child process may use: memory, CPU seconds, and its life after its parent's. Linux has all of it.

macOS has the CPU limit only; Windows neither (there the parent's wall clock is what ends a child).
"""

import contextlib
import ctypes
import os
import signal
import sys
from typing import Any


def _resource() -> Any:  # noqa: ANN401 - a module that Windows does not have
    try:
        import resource
    except ImportError:
        return None
    return resource


def hold_memory(limit_mb: int) -> None:
    """Bound this process's address space, MiB; an allocation beyond it fails here instead of taking the machine."""
    resource = _resource()
    if resource is None:
        return
    limit = limit_mb << 20
    with contextlib.suppress(ValueError, OSError):  # macOS refuses RLIMIT_AS
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def allow_cpu(seconds: float) -> None:
    """Allow this many more CPU seconds from now; beyond it the kernel ends the process (SIGXCPU)."""
    resource = _resource()
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent goes (Linux); elsewhere the closed pipe ends it."""
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, AttributeError):
        pr_set_pdeathsig = 1  # linux/prctl.h
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def quiet_interrupts() -> None:
    """Leave Ctrl-C to the parent, which ends its children in order."""
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(5)


def resident_mb() -> float:
    """Memory this process holds now, MiB (0 where that cannot be told)."""
    try:
        import psutil
    except ImportError:
        return 0.0
    return float(psutil.Process().memory_info().rss) / (1 << 20)
