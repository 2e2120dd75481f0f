"""Plugins by name, from entry points; loaded when first named, never before."""

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pageloom.errors import MissingExtra, UnknownPlugin

KINDS = {"sources": "source", "engines": "engine", "exporters": "exporter", "dialects": "dialect"}


def names(group: str) -> tuple[str, ...]:
    """Names of all installed plugins of a group (`sources`, `engines`, `exporters`), sorted; loads none."""
    return tuple(sorted({point.name for point in entry_points(group=f"pageloom.{group}")}))


def load(group: str, name: str) -> Any:  # noqa: ANN401 - each group has its own protocol; callers name it
    """The object a plugin's entry point names.

    Raises:
        UnknownPlugin: none of that name is installed.
        MissingExtra: it is ours, but its libraries are not installed.
    """
    found: tuple[EntryPoint, ...] = tuple(entry_points(group=f"pageloom.{group}", name=name))
    if not found:
        raise UnknownPlugin(f"no {KINDS[group]} named {name!r}; installed: {', '.join(names(group))}")
    try:
        return found[0].load()
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("pageloom"):
            raise
        raise MissingExtra(f"{KINDS[group]} {name!r} ({error.name})", name) from error
    except AttributeError as error:
        raise UnknownPlugin(f"{KINDS[group]} {name!r} is installed, but {found[0].value} is not there") from error
