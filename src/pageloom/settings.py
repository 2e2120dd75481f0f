"""All settings in one place: defaults < pageloom.toml < PAGELOOM_* < command line; read once, frozen, no typos."""

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator

from pageloom.contracts import Options
from pageloom.errors import SettingsError

ENV_PREFIX = "PAGELOOM_"
VLLM_VARIABLE = "VLLM_ENGINE"
Origin = Literal["default", "file", "environment", "command line"]
SECRET_WORDS = ("password", "secret", "token", "api_key", "key")


class Section(Options):
    """Base of all sections."""


class Limits(Section):
    """What is taken at the door."""

    max_pages: int = Field(default=10_000, ge=1, description="pages of one document")
    max_megapixels: float = Field(default=100.0, gt=0, description="pixels of one page or image, in millions")
    max_megabytes: float = Field(default=200.0, gt=0, description="bytes of one file, in millions")
    draw_seconds: float = Field(default=25.0, gt=0, description="seconds to open a document or draw one page")
    worker_memory_mb: int = Field(
        default=2048, ge=256, description="address space of a child process that decodes, MiB"
    )


class Pdf(Section):
    """How PDFs are opened."""

    backend: Literal["pdfium", "pdfplumber", "pymupdf"] = Field(
        default="pdfium", description="PDF library; pymupdf is AGPL and an optional extra"
    )


class EngineSettings(Section):
    """Which engine reads, and its own options (checked by that engine when it is opened)."""

    name: str = Field(
        default="auto", description="auto, native, onnx, scripted, openai, vllm, transformers or a plugin's name"
    )
    vllm: str = Field(default="", description="a vLLM server's URL, or local; also VLLM_ENGINE")
    servers: tuple[str, ...] = Field(default=(), description="base URLs of model servers that auto may use")
    model: str = Field(default="", description="folder of the DeepSeek-OCR-2 checkpoint, for vllm and transformers")
    # repr=False: an API key may be among them
    options: dict[str, Any] = Field(default_factory=dict, repr=False, description="options of that engine")


class Read(Section):
    """How pages are read."""

    languages: tuple[str, ...] = Field(default=(), description="languages to expect, e.g. zh,en; empty = find out")
    dpi: float = Field(default=150.0, ge=36, le=600, description="resolution at which the CPU engine sees a page")
    layout: Literal["model", "rules"] = Field(
        default="model", description="regions by the layout model or by rules only"
    )
    attempts: int = Field(default=3, ge=1, le=8, description="tries a page gets before it is failed")
    task: Literal["markdown", "text", "figure", "locate", "custom"] = Field(
        default="markdown", description="what is asked of a language model; others know markdown and text only"
    )
    words: str = Field(default="", description="the text to locate, or the question of task custom")


class Workers(Section):
    """Child processes."""

    decode: int = Field(default=0, ge=0, description="processes that open and draw; 0 = by cores")
    read: int = Field(default=0, ge=0, description="processes of the CPU engine; 0 = by cores")


class Models(Section):
    """Where model files are."""

    folder: Path | None = Field(default=None, description="folder of the model files; empty = the user's data folder")


class Output(Section):
    """How results are written."""

    formats: tuple[str, ...] = Field(default=("md", "json", "txt"), description="formats that parse writes")
    headers: bool = Field(default=False, description="keep running headers and page numbers in Markdown and text")
    page_marks: bool = Field(default=False, description="put page-number markers into Markdown and text")


class Settings(Section):
    """Everything that can be set."""

    limits: Limits = Field(default=Limits(), description="what is taken at the door")
    pdf: Pdf = Field(default=Pdf(), description="how PDFs are opened")
    engine: EngineSettings = Field(default=EngineSettings(), description="which engine reads, and its own options")
    read: Read = Field(default=Read(), description="how pages are read")
    workers: Workers = Field(default=Workers(), description="child processes")
    models: Models = Field(default=Models(), description="where model files are")
    output: Output = Field(default=Output(), description="how results are written")
    password: SecretStr | None = Field(default=None, description="password tried on encrypted documents")

    @field_validator("engine", mode="before")
    @classmethod
    def _engine_by_name(cls, value: object) -> object:
        """`engine = "onnx"` and `PAGELOOM_ENGINE=onnx` are short for `engine.name`."""
        return {"name": value} if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Value:
    """One setting as it stands: its dotted name, its value, and who said so (a file's or variable's name)."""

    name: str
    value: object
    origin: Origin
    place: str = ""

    @property
    def shown(self) -> str:
        """The value in words, secrets hidden."""
        if _is_secret(self.name) and self.value is not None:
            return "(hidden)"
        match self.value:
            case None | () | {}:
                return "(empty)"
            case tuple() | list():
                return ",".join(str(word) for word in self.value)
            case bool():
                return str(self.value).lower()
            case _:
                return str(self.value)


@dataclass(frozen=True, slots=True)
class _Layer:
    """What one place says, flat: dotted name -> (value, name of the place)."""

    origin: Origin
    values: dict[str, tuple[object, str]]


def read_settings(overrides: Mapping[str, Any] | None = None, file: Path | None = None) -> Settings:
    """Settings from all places.

    Args:
        overrides: nested values from the command line; they win.
        file: a TOML (or YAML, by suffix) file; None = `pageloom.toml` in the current folder where there is one.

    Raises:
        SettingsError: an unknown name or a value out of range, with its place.
    """
    return _merged(_layers(overrides, file))[0]


def explain_settings(overrides: Mapping[str, Any] | None = None, file: Path | None = None) -> tuple[Value, ...]:
    """Every setting with its value and where that came from; arguments and errors as in `read_settings`."""
    settings, said = _merged(_layers(overrides, file))
    return tuple(_values(settings, said))


def setting_names() -> tuple[str, ...]:
    """Dotted names of all settings, in the order of this file."""
    return tuple(name for name, _ in _leaves(Settings))


def nested(assignments: Mapping[str, object]) -> dict[str, Any]:
    """Dotted names to nested dicts: `{"read.dpi": 200}` -> `{"read": {"dpi": 200}}`."""
    tree: dict[str, Any] = {}
    for name, value in assignments.items():
        *path, leaf = name.split(".")
        node = tree
        for part in path:
            below = node.setdefault(part, {})
            node = below if isinstance(below, dict) else node.setdefault(part, {})
        node[leaf] = value
    return tree


def _layers(overrides: Mapping[str, Any] | None, file: Path | None) -> tuple[_Layer, ...]:
    path = file or (Path("pageloom.toml") if Path("pageloom.toml").is_file() else None)
    from_file = {name: (value, str(path)) for name, value in _flat(_file(path) if path else {})}
    given = {name: (value, "") for name, value in _flat(overrides or {})}
    return _Layer("file", from_file), _Layer("environment", _environment()), _Layer("command line", given)


def _file(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"settings file {path} cannot be read: {error}") from error
    try:
        values = _yaml(text) if path.suffix in {".yaml", ".yml"} else tomllib.loads(text)
    except ValueError as error:
        raise SettingsError(f"settings file {path}: {error}") from error
    if not isinstance(values, Mapping):
        raise SettingsError(f"settings file {path}: names with values are expected at its top")
    return values


def _yaml(text: str) -> Any:  # noqa: ANN401 - checked by the caller
    import yaml

    try:
        return yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _environment() -> dict[str, tuple[object, str]]:
    """`PAGELOOM_READ__DPI` is `read.dpi`; a variable of our prefix that names no setting is an error later on."""
    said: dict[str, tuple[object, str]] = {}
    if word := os.environ.get(VLLM_VARIABLE, "").strip():
        said["engine.vllm"] = word, VLLM_VARIABLE
    for variable, value in sorted(os.environ.items()):
        if variable.startswith(ENV_PREFIX):
            said[variable.removeprefix(ENV_PREFIX).lower().replace("__", ".")] = value, variable
    return said


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        dotted = f"{prefix}{name}"
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{dotted}.")
        else:
            yield dotted, value


def _leaves(section: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from _leaves(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", section


def _merged(layers: tuple[_Layer, ...]) -> tuple[Settings, dict[str, tuple[Origin, str]]]:
    values: dict[str, object] = {}
    said: dict[str, tuple[Origin, str]] = {}
    for layer in layers:
        for short, (value, place) in layer.values.items():
            name = "engine.name" if short == "engine" else short
            _known(name, layer.origin, place)
            values[name] = value
            said[name] = layer.origin, place
    try:
        return Settings.model_validate(nested(values)), said
    except ValidationError as error:
        raise SettingsError(_complaint(error, said)) from error


def _known(name: str, origin: Origin, place: str) -> None:
    names = setting_names()
    if name in names or name.startswith("engine.options."):
        return
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]}?" if close else "; `pageloom config` lists them all"
    raise SettingsError(f"no setting is called {name} ({_where(origin, place)}){hint}")


def _complaint(error: ValidationError, said: Mapping[str, tuple[Origin, str]]) -> str:
    """The first fault in words: never the value, which may be a password."""
    first = error.errors(include_input=False, include_url=False)[0]
    path = [str(part) for part in first["loc"]]
    while path and ".".join(path) not in said:
        path.pop()
    name = ".".join(path) or ".".join(str(part) for part in first["loc"])
    origin, place = said.get(name, ("default", ""))
    return f"setting {name} ({_where(origin, place)}): {first['msg']}"


def _where(origin: Origin, place: str) -> str:
    return f"{origin} {place}" if place else origin


def _values(settings: Settings, said: Mapping[str, tuple[Origin, str]]) -> Iterator[Value]:
    for name in setting_names():
        value: object = settings
        for part in name.split("."):
            value = getattr(value, part)
        options = [option for option in said if option.startswith(f"{name}.")]
        for option in options:
            yield Value(option, _option(settings, option), *said[option])
        if not options:
            yield Value(name, value, *said.get(name, ("default", "")))


def _option(settings: Settings, name: str) -> object:
    value: Any = settings.engine.options
    for part in name.removeprefix("engine.options.").split("."):
        value = value[part]
    return value


def _is_secret(name: str) -> bool:
    leaf = name.rsplit(".", 1)[-1].lower()
    return any(leaf == word or leaf.endswith(f"_{word}") for word in SECRET_WORDS)
