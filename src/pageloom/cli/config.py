"""`pageloom config`: every setting, its value, and where it comes from."""

import json
from typing import Annotated

import typer

from pageloom.cli.options import Assignments, ConfigFile, overrides


def config(
    *,
    file: ConfigFile = None,
    assignments: Assignments = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show every setting, its value, and where the value comes from; secrets are hidden."""
    from pageloom.settings import explain_settings

    values = explain_settings(overrides({}, assignments), file)
    if as_json:
        rows = [{"name": v.name, "value": v.shown, "origin": v.origin, "place": v.place} for v in values]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    width = max(len(value.name) for value in values)
    shown = max(min(len(value.shown), 40) for value in values)
    for value in values:
        print(f"{value.name:<{width}}  {value.shown:<{shown}}  {value.origin} {value.place}".rstrip())
