"""Options that several commands share, and how the command line becomes settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from pageloom.errors import SettingsError

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", help="Settings file, TOML or YAML; default: pageloom.toml here.", show_default=False),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Any setting, e.g. --set limits.max_pages=500.", show_default=False
    ),
]


def assigned(words: Sequence[str] | None) -> dict[str, object]:
    """`["read.dpi=200"]` as `{"read.dpi": "200"}`.

    Raises:
        SettingsError: a word without "=".
    """
    found: dict[str, object] = {}
    for word in words or ():
        name, equals, value = word.partition("=")
        if not equals:
            raise SettingsError(f"--set {word}: write NAME=VALUE, e.g. --set read.dpi=200")
        found[name.strip()] = value.strip()
    return found


def overrides(named: Mapping[str, object | None], words: Sequence[str] | None) -> dict[str, Any]:
    """Nested settings of the command line: options by their setting's name (None = not given), and `--set`."""
    from pageloom.settings import nested

    given = {name: value for name, value in named.items() if value is not None}
    return nested({**assigned(words), **given})
