"""The `pageloom` command: which sub-command is loaded, and how faults end it."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pageloom.errors import PageloomError

if TYPE_CHECKING:
    import typer

# Sub-command -> module and name of a function or of a typer app; loaded only when it is called.
COMMANDS: dict[str, tuple[str, str]] = {
    "parse": ("pageloom.cli.parse", "parse"),
    "models": ("pageloom.cli.models", "models"),
    "doctor": ("pageloom.cli.doctor", "doctor"),
    "config": ("pageloom.cli.config", "config"),
    "serve-model": ("pageloom.cli.serve_model", "serve_model"),
}

EXAMPLES = """\
Pageloom turns PDFs, scans and photos into structured documents.

  pageloom parse invoice.pdf                   Markdown, JSON and text into out/
  pageloom parse scans/ -o texts --lang zh,en  every document of a folder
  pageloom parse photo.jpg -o - | less         one format to stdout

More: pageloom --help, pageloom parse --help, pageloom doctor
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code is one of `cli.exits`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words:
        print(EXAMPLES, end="")
        return 0
    if words in (["--version"], ["-V"]):
        print(_version())
        return 0
    try:
        return _called(words)
    except PageloomError as error:
        from pageloom.cli.exits import exit_of

        print(f"pageloom: {error}", file=sys.stderr)
        return int(exit_of(error))
    except KeyboardInterrupt:
        print("pageloom: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except Exception:  # noqa: BLE001 - the border: whatever is left is a fault of ours, and is shown whole
        return _fault()


def application(words: Sequence[str]) -> "typer.Typer":
    """The typer application with the sub-command that these words call, or with all when they call none."""
    import typer

    app = typer.Typer(
        name="pageloom",
        help="PDFs, scans and photos to structured documents.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,  # its tracebacks show local variables, passwords among them
        rich_markup_mode=None,
    )
    app.callback()(_callback)
    called = next((word for word in words if not word.startswith("-")), "")
    for name in [called] if called in COMMANDS else COMMANDS:
        module, attribute = COMMANDS[name]
        command = getattr(import_module(module), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def _callback() -> None:
    """PDFs, scans and photos to structured documents."""


def _called(words: Sequence[str]) -> int:
    import logging

    from typer.main import get_command

    # Records are for services; a person is told by the command itself.
    logging.getLogger("pageloom").addHandler(logging.NullHandler())
    try:
        get_command(application(words)).main(args=list(words), prog_name="pageloom")
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def _version() -> str:
    from importlib.metadata import version

    return f"pageloom {version('pageloom')}"


def _fault() -> int:
    import traceback

    traceback.print_exc()
    print(
        f"pageloom: this is a fault of Pageloom ({_version()}), please report it with the lines above", file=sys.stderr
    )
    return 1


def _silence_stdout() -> None:
    """The reader of a pipe has gone; what is still buffered for it must not raise again at exit."""
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - it is to stay open until the end
