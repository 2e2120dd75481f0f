"""Settings: four places, one order, no typos, no secrets shown."""

from pathlib import Path

import pytest

from pageloom.errors import SettingsError
from pageloom.settings import explain_settings, read_settings, setting_names


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("PAGELOOM_READ__DPI", "PAGELOOM_ENGINE", "PAGELOOM_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


def origin_of(name: str, **given: object) -> tuple[str, str]:
    value = next(value for value in explain_settings(given) if value.name == name)
    return value.shown, value.origin


def test_the_command_line_wins_over_variables_over_the_file_over_defaults(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert origin_of("read.dpi") == ("150.0", "default")
    (tmp_path / "pageloom.toml").write_text("[read]\ndpi = 100\n")
    assert origin_of("read.dpi") == ("100.0", "file")
    monkeypatch.setenv("PAGELOOM_READ__DPI", "120")
    assert origin_of("read.dpi") == ("120.0", "environment")
    assert origin_of("read.dpi", read={"dpi": 200}) == ("200.0", "command line")


def test_yaml_is_read_by_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text("engine: native\nread: {languages: [zh, en]}\n")
    settings = read_settings(file=tmp_path / "my.yaml")
    assert settings.engine.name == "native"
    assert settings.read.languages == ("zh", "en")


def test_lists_may_be_written_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGELOOM_OUTPUT__FORMATS", "md, json")
    assert read_settings().output.formats == ("md", "json")


def test_an_engine_may_be_named_in_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGELOOM_ENGINE", "native")
    monkeypatch.setenv("PAGELOOM_ENGINE__OPTIONS__URL", "http://127.0.0.1")
    engine = read_settings().engine
    assert (engine.name, engine.options) == ("native", {"url": "http://127.0.0.1"})


@pytest.mark.parametrize("place", ["command line", "file", "environment"])
def test_an_unknown_name_is_an_error_that_says_where_and_what_was_meant(
    place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = {}
    if place == "file":
        (tmp_path / "pageloom.toml").write_text("[limits]\nmax_page = 3\n")
    elif place == "environment":
        monkeypatch.setenv("PAGELOOM_LIMITS__MAX_PAGE", "3")
    else:
        given = {"limits": {"max_page": 3}}
    with pytest.raises(SettingsError, match=rf"limits.max_page \({place}.*did you mean limits.max_pages"):
        read_settings(given)


def test_a_value_out_of_range_names_its_setting_and_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGELOOM_READ__DPI", "9000")
    with pytest.raises(SettingsError, match=r"read.dpi \(environment PAGELOOM_READ__DPI\)"):
        read_settings()


def test_a_broken_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "pageloom.toml").write_text("[read\n")
    with pytest.raises(SettingsError, match=r"pageloom\.toml"):
        read_settings()
    with pytest.raises(SettingsError, match=r"none\.toml"):
        read_settings(file=tmp_path / "none.toml")


def test_secrets_are_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGELOOM_PASSWORD", "sesame")
    monkeypatch.setenv("PAGELOOM_ENGINE__OPTIONS__API_KEY", "sesame")
    values = explain_settings()
    assert [value.shown for value in values if value.name in {"password", "engine.options.api_key"}] == ["(hidden)"] * 2
    assert "sesame" not in " ".join(value.shown for value in values) + repr(read_settings())


def test_a_wrong_secret_is_not_repeated_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"password": ["sesame"]})
    assert "sesame" not in str(caught.value)


def test_every_setting_is_explained() -> None:
    assert tuple(value.name for value in explain_settings()) == setting_names()
