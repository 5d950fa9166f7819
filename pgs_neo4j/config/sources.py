"""Where settings come from: ``pgs.toml``, the environment, and customary variables."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from pathlib import Path
from typing import ClassVar

from platformdirs import user_config_path
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from pgs_neo4j.errors import ConfigError

CUSTOMARY = {"llm_base_url": "OPENAI_BASE_URL", "llm_api_key": "OPENAI_API_KEY"}
MASK = "***"
_CREDENTIALS = re.compile(r"^(\w[\w+.-]*://)?.*@", re.DOTALL)  # to the last @: passwords hold some
_QUERY = re.compile(r"(?<=[?#]).+", re.DOTALL)


class Sourced(BaseSettings):
    """Settings from the call, the environment, ``pgs.toml``, and customary variables."""

    model_config = SettingsConfigDict(
        env_prefix="PGS_",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
    )
    setting_names: ClassVar[list[str]] = []
    """The names of all settings, whichever class declares them."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        """Register the settings that a class declares."""
        Sourced.setting_names.extend(cls.model_fields)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources, strongest first; omit dotenv and secrets folder."""
        del dotenv_settings, file_secret_settings
        return (
            init_settings,
            env_settings,
            InitSettingsSource(settings_cls, file_values()),
            InitSettingsSource(settings_cls, customary_values()),
        )


def config_file() -> Path | None:
    """Find the ``pgs.toml`` in force; None without one.

    Raises ConfigError when PGS_CONFIG names no file.
    """
    configured = os.environ.get("PGS_CONFIG")
    if configured:
        path = Path(configured).expanduser()
        if not path.is_file():
            raise ConfigError(f"PGS_CONFIG names {path}, which is not a file; correct or unset it")
        return path
    places = (Path.cwd() / "pgs.toml", user_config_path("pgs-neo4j") / "pgs.toml")
    return next((path for path in places if path.is_file()), None)


def file_values() -> dict[str, object]:
    """Read ``pgs.toml``. Raises ConfigError if unreadable, or for unknown names."""
    path = config_file()
    if path is None:
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    for name in values:
        check_name(name, str(path))
    return values


def customary_values() -> dict[str, str]:
    """Read variables that other tools also use, by setting name."""
    return {
        name: os.environ[variable]
        for name, variable in CUSTOMARY.items()
        if os.environ.get(variable)
    }


def check_name(name: str, where: str) -> None:
    """Raise ConfigError when ``where`` sets an unknown name."""
    if name not in Sourced.setting_names:
        raise unknown_name(name, where, Sourced.setting_names)


def unknown_name(name: str, where: str, names: list[str]) -> ConfigError:
    """Return the error for an unknown name; it suggests the nearest."""
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else "; 'pgs config show' lists all settings"
    return ConfigError(f"{where} sets {name}, which is not a setting{hint}")


def masked_address(address: str) -> str:
    """Mask the parts of an address that may be secret.

    These are the credentials and the query.
    """
    return _QUERY.sub(MASK, _CREDENTIALS.sub(rf"\1{MASK}@", address))
