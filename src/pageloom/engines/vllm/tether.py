"""Starts a program that dies with its parent: `python tether.py PARENT_PID PROGRAM ARGUMENT...`."""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Tie this process to its parent, then become the program."""
    parent, program = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before the tie was made
            sys.exit(1)
    os.execvp(program[0], program)  # noqa: S606 - no shell


if __name__ == "__main__":
    main()
