"""`pageloom doctor`: what works on this machine, what does not, and what to do about it."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from pageloom.cli.exits import Exit
from pageloom.cli.options import Assignments, ConfigFile, overrides

if TYPE_CHECKING:
    from pageloom.cli.checks import Check, Finding
    from pageloom.settings import Settings


def doctor(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    engine: Annotated[str | None, typer.Option("--engine", help="Check this engine.", show_default=False)] = None,
    config: ConfigFile = None,
    assignments: Assignments = None,
) -> None:
    """Say what works here: versions, models, engines, a known page read, timings; and the fix for each fault."""
    from pageloom.cli.checks import CHECKS
    from pageloom.settings import read_settings

    settings = read_settings(overrides({"engine.name": engine}, assignments), config)
    show: Callable[[Finding], None] = (lambda _: None) if as_json else _show
    findings = list(_examined(CHECKS, settings, show))
    code = max((finding.exit for finding in findings if finding.state == "broken"), default=Exit.DONE)
    if as_json:
        rows = [finding.as_json() for finding in findings]
        print(json.dumps({"exit": int(code), "checks": rows}, ensure_ascii=False, indent=2))
    elif code is not Exit.DONE:
        print("something is broken; the lines that begin with `fix:` say what to do", file=sys.stderr)
    raise typer.Exit(code)


def _examined(
    checks: "tuple[Check, ...]", settings: "Settings", show: "Callable[[Finding], None]"
) -> "Iterator[Finding]":
    for check in checks:
        began = time.monotonic()
        for finding in check(settings):
            timed = finding.timed(time.monotonic() - began)
            began = time.monotonic()
            show(timed)
            yield timed


def _show(finding: "Finding") -> None:
    seconds = f"  ({finding.seconds:.1f} s)" if finding.seconds >= 0.1 else ""
    print(f"{finding.state:<7} {finding.name:<18} {finding.text}{seconds}", flush=True)
    if finding.fix:
        print(f"{'':<7} {'':<18} fix: {finding.fix}", flush=True)
