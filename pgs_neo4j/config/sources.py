"""Where settings come from: ``pgs.toml``, the environment, and customary variables."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path
from typing import ClassVar

from pydantic import field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from pgs_neo4j.config.provenance import find_file, one_reading
from pgs_neo4j.config.written_types import as_written
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.model.ceilings import check_number


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

    @field_validator("*", mode="after")
    @classmethod
    def check_numbers(cls, value: object) -> object:
        """Refuse numbers that the database or a timer would not take."""
        return check_number(value)

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
        with one_reading() as inputs:
            for name in inputs.values:
                check_name(name, str(inputs.path))
        return (
            init_settings,
            env_settings,
            InitSettingsSource(settings_cls, as_written(settings_cls, inputs.values)),
            InitSettingsSource(settings_cls, dict(inputs.customary)),
        )


def config_file() -> Path | None:
    """Find the ``pgs.toml`` in force; None without one.

    Raises ConfigError when PGS_CONFIG names no file.
    """
    return find_file()[0]


def check_name(name: str, where: str, others: Collection[str] = ()) -> None:
    """Raise ConfigError when ``where`` sets an unknown name.

    ``others`` are names that mean something there, but are no settings.
    """
    if name not in Sourced.setting_names:
        raise unknown_name(name, where, [*Sourced.setting_names, *others])


def unknown_name(name: str, where: str, names: list[str]) -> ConfigError:
    """Return the error for an unknown name; it suggests the nearest."""
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else "; 'pgs config show' lists all settings"
    return ConfigError(f"{where} sets {name}, which is not a setting{hint}")
