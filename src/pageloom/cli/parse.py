"""`pageloom parse`: files in, documents out."""

from typing import Annotated

import typer

from pageloom.cli.options import Assignments, ConfigFile, overrides

OUTPUT = "out"


def asked(task: str | None) -> dict[str, str | None]:
    """Settings of `--task`: `locate:total amount` is the task locate with its words."""
    name, colon, words = (task or "").partition(":")
    return {"read.task": name or None, "read.words": words if colon else None}


def parse(  # noqa: PLR0913 - one parameter an option
    inputs: Annotated[
        list[str], typer.Argument(metavar="FILE|DIR|-...", help="Files, folders, or - for stdin.", show_default=False)
    ],
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Folder of the results; - writes one format to stdout.")
    ] = OUTPUT,
    engine: Annotated[
        str | None, typer.Option("--engine", help="auto, native, onnx, ...; see doctor.", show_default=False)
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            help="What a model is asked: markdown, text, figure, or WORD:WORDS with locate or custom.",
            show_default=False,
        ),
    ] = None,
    lang: Annotated[
        str | None, typer.Option("--lang", help="Languages to expect, e.g. zh,en.", show_default=False)
    ] = None,
    pages: Annotated[str | None, typer.Option("--pages", help="E.g. 1-3,7 or 10-.", show_default=False)] = None,
    password: Annotated[
        str | None,
        typer.Option(
            "--password",
            help="For locked PDFs; better in PAGELOOM_PASSWORD, or asked on the terminal.",
            show_default=False,
        ),
    ] = None,
    join: Annotated[
        str | None,
        typer.Option(
            "--join", metavar="NAME", help="All inputs become one document, in this order.", show_default=False
        ),
    ] = None,
    formats: Annotated[
        str | None, typer.Option("--format", "-f", help="E.g. md,json,txt (the default).", show_default=False)
    ] = None,
    headers: Annotated[
        bool | None,
        typer.Option("--headers/--no-headers", help="Keep running headers and page numbers.", show_default=False),
    ] = None,
    page_marks: Annotated[
        bool | None,
        typer.Option("--page-marks/--no-page-marks", help="Mark where pages begin.", show_default=False),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Read only missing and failed pages; skip what is done.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over results of earlier runs.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Suspect pages count as failed (exit code 3).")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A summary for machines on stdout.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Tell failures only.")] = False,
    config: ConfigFile = None,
    assignments: Assignments = None,
) -> None:
    """Read PDFs, scans and photos into Markdown, JSON and text.

    Results go to OUT/NAME.md, .json, .txt and OUT/NAME.assets/. Exit codes: 0 done, 2 usage, 3 some pages or inputs
    failed, 4 every input refused, 5 engine or models missing, 130 interrupted.
    """
    from pageloom.cli.carry_out import Wish, carry_out
    from pageloom.settings import read_settings

    named: dict[str, object | None] = {
        "engine.name": engine,
        "read.languages": lang,
        **asked(task),
        "password": password,
        "output.formats": formats,
        "output.headers": headers,
        "output.page_marks": page_marks,
    }
    settings = read_settings(overrides(named, assignments), config)
    wish = Wish(
        inputs=tuple(inputs),
        output=output,
        pages=pages,
        join=join,
        resume=resume,
        force=force,
        strict=strict,
        as_json=as_json,
        quiet=quiet,
        formats_named=formats is not None,
    )
    raise typer.Exit(carry_out(settings, wish))
