"""All settings in one place: defaults < pageloom.toml < PAGELOOM_* < command line; read once, frozen, no typos."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
    YamlConfigSettingsSource,
)

from pageloom.errors import SettingsError


class Section(BaseModel):
    """Base of all sections."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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
    options: dict[str, Any] = Field(default_factory=dict, description="options of that engine")


class Read(Section):
    """How pages are read."""

    languages: tuple[str, ...] = Field(default=(), description="languages to expect, e.g. zh,en; empty = find out")
    dpi: float = Field(default=150.0, ge=36, le=600, description="resolution at which the CPU engine sees a page")
    layout: Literal["model", "rules"] = Field(
        default="model", description="regions by the layout model or by rules only"
    )
    attempts: int = Field(default=3, ge=1, le=8, description="tries a page gets before it is failed")


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


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix="PAGELOOM_",
        env_nested_delimiter="__",
        nested_model_default_partial_update=True,
    )

    limits: Limits = Limits()
    pdf: Pdf = Pdf()
    engine: EngineSettings = EngineSettings()
    read: Read = Read()
    workers: Workers = Workers()
    models: Models = Models()
    output: Output = Output()
    password: SecretStr | None = Field(default=None, description="password tried on encrypted documents")

    config_file: ClassVar[Path | None] = None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - no .env here
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - nor secret files
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Command line, then environment, then the file; no .env, no secrets folder."""
        path = cls.config_file
        if path is None:
            return init_settings, env_settings
        source = YamlConfigSettingsSource if path.suffix in {".yaml", ".yml"} else TomlConfigSettingsSource
        return init_settings, env_settings, source(settings_cls, path)


def read_settings(overrides: Mapping[str, Any] | None = None, file: Path | None = None) -> Settings:
    """Settings from all places.

    Args:
        overrides: nested values from the command line; they win.
        file: a TOML (or YAML, by suffix) file; None = `pageloom.toml` in the current folder where there is one.

    Raises:
        SettingsError: an unknown name or a value out of range, with its place.
    """
    path = file or (Path("pageloom.toml") if Path("pageloom.toml").is_file() else None)
    if file is not None and not file.is_file():
        raise SettingsError(f"no settings file at {file}")
    chosen = type("Settings", (Settings,), {"config_file": path, "__module__": __name__})
    try:
        return chosen(**dict(overrides or {}))  # type: ignore[no-any-return]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"setting {where}: {first['msg']}") from error
