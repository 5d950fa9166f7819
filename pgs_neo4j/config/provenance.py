"""Reads settings from their sources, and records the source of each value.

The sources are the call, the environment, ``pgs.toml``, and customary variables of other tools. The
file and the environment are read only once.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from platformdirs import user_config_path
from pydantic import SecretStr, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from pgs_neo4j.config.declaration import mark_mistyped
from pgs_neo4j.config.providers import KEY_VARIABLES
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.model.ceilings import check_number
from pgs_neo4j.text.invalid_values import suggest_similar

FILE_NAME = "pgs.toml"
CUSTOMARY = {"llm_base_url": "OPENAI_BASE_URL", "llm_api_key": "OPENAI_API_KEY"}

Source = Literal["default", "call", "environment", "named", "user", "directory", "customary"]
"""The source of a value.

Three sources are places of ``pgs.toml``: ``named`` by PGS_CONFIG, in the ``user``'s configuration
directory, and in the working ``directory``. ``customary`` is a variable of another tool.
"""


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
        """Refuse numbers that the database or a timer cannot handle."""
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
        """Return the sources, strongest first, without dotenv and the secrets folder.

        Raises ConfigError if the file sets an unknown name.
        """
        del dotenv_settings, file_secret_settings
        with read_sources_once() as inputs:
            for name in inputs.values:
                check_name(name, str(inputs.path))
        return (
            init_settings,
            env_settings,
            InitSettingsSource(settings_cls, mark_mistyped(settings_cls, inputs.values)),
            InitSettingsSource(settings_cls, dict(inputs.customary)),
        )


@dataclass(frozen=True, slots=True)
class Provenance:
    """The source of every setting, and the file in force.

    ``names`` are the settings and the keys of tables that the file sets, even if another source
    overrides them. ``customary_url`` is the value of OPENAI_BASE_URL, even if it is overridden.
    ``customary_keys`` maps variables of other tools to the keys in them, which are for providers.
    """

    sources: Mapping[str, Source] = field(default_factory=dict)
    path: Path | None = None
    place: Source = "default"
    names: frozenset[str] = frozenset()
    customary_url: str | None = field(default=None, repr=False)
    customary_keys: Mapping[str, SecretStr] = field(default_factory=dict, repr=False)

    def source(self, name: str) -> Source:
        """Return the source of a setting; without a recorded source, it is the call."""
        return self.sources.get(name, "call")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The contents of the file and of the variables when the settings were read."""

    path: Path | None
    place: Source
    values: dict[str, object] = field(repr=False)
    customary: dict[str, str] = field(repr=False)
    customary_keys: dict[str, SecretStr] = field(repr=False)
    variables: frozenset[str]

    def trace(self, names: Iterable[str], call: Mapping[str, object]) -> Provenance:
        """Return the source of each setting and of each table key; ``call`` has the call's values.

        Names of table keys begin with the table, as in ``search.mode`` or ``models.NAME.base_url``.
        """
        called, filed = _with_keys(call), _with_keys(self.values)
        keys = {name for name in called | filed | self.variables if name.startswith("models.")}
        sources = {name: self._find_source(name, called, filed) for name in (*names, *keys)}
        return Provenance(
            sources,
            self.path,
            self.place,
            filed,
            self.customary.get("llm_base_url"),
            self.customary_keys,
        )

    def _find_source(self, name: str, called: frozenset[str], filed: frozenset[str]) -> Source:
        """Return the strongest source that sets a name."""
        if name in called:
            return "call"
        if name in self.variables:
            return "environment"
        if name in filed:
            return self.place
        return "customary" if name in self.customary else "default"


_INPUTS: ContextVar[Inputs | None] = ContextVar("inputs", default=None)


@contextmanager
def read_sources_once() -> Iterator[Inputs]:
    """Read the file and the variables once for everything in the block.

    The file may change between two readings, and then a value could get the wrong source. Raises
    ConfigError if the file cannot be read.
    """
    current = _INPUTS.get()
    if current is not None:
        yield current
        return
    token = _INPUTS.set(_read_inputs())
    try:
        yield _INPUTS.get()  # type: ignore[misc] # set above
    finally:
        _INPUTS.reset(token)


def config_file() -> Path | None:
    """Find the ``pgs.toml`` in force; None without one.

    Raises ConfigError if PGS_CONFIG does not name a file.
    """
    return find_file()[0]


def find_file() -> tuple[Path | None, Source]:
    """Return the path of the ``pgs.toml`` in force, and the source that it counts as.

    Raises ConfigError if PGS_CONFIG does not name a file.
    """
    configured = os.environ.get("PGS_CONFIG")
    if configured:
        path = Path(configured).expanduser()
        if not path.is_file():
            raise ConfigError(f"PGS_CONFIG names {path}, which is not a file; correct or unset it")
        return path, "named"
    here, users = Path.cwd() / FILE_NAME, user_config_folder() / FILE_NAME
    if here.is_file():
        return here, "user" if users.is_file() and here.samefile(users) else "directory"
    return (users, "user") if users.is_file() else (None, "default")


def user_config_folder() -> Path:
    """Return the folder of a user's ``pgs.toml``: ``~/.config/pgs-neo4j`` on Linux."""
    return user_config_path("pgs-neo4j")


def check_name(name: str, where: str, others: Collection[str] = ()) -> None:
    """Raise ConfigError if ``name``, which ``where`` sets, is not a setting.

    ``others`` are names with another meaning there, for suggestions after a misspelling.
    """
    if name not in Sourced.setting_names:
        raise unknown_name(name, where, [*Sourced.setting_names, *others])


def unknown_name(name: str, where: str, names: list[str]) -> ConfigError:
    """Return the error for an unknown name, which suggests the most similar of ``names``."""
    hint = suggest_similar(name, names, "'pgs config show' lists all settings")
    return ConfigError(f"{where} sets {name}, which is not a setting; {hint}")


def _read_inputs() -> Inputs:
    path, place = find_file()
    prefix = "PGS_"
    return Inputs(
        path=path,
        place=place,
        values=_read_file(path),
        customary={
            name: os.environ[variable]
            for name, variable in CUSTOMARY.items()
            if os.environ.get(variable)
        },
        customary_keys={
            variable: SecretStr(os.environ[variable])
            for variable in KEY_VARIABLES
            if os.environ.get(variable)
        },
        variables=_with_keys(
            {
                name.upper().removeprefix(prefix).lower(): _parse_table(value)
                for name, value in os.environ.items()
                if value and name.upper().startswith(prefix)
            }
        ),
    )


def _with_keys(values: Mapping[str, object]) -> frozenset[str]:
    """Return the names of values, and of the keys that tables among the values set."""
    names = set(values)
    for name, value in values.items():
        names |= {f"{name}.{key}" for key in _with_keys(_read_table(value))}
    return frozenset(names)


def _read_table(value: object) -> Mapping[str, object]:
    """Return the keys and values that a table sets; empty for any other value.

    A table that is already a pydantic model sets all of its keys.
    """
    if isinstance(value, Mapping):
        return value
    return {name: getattr(value, name) for name in getattr(type(value), "model_fields", ())}


def _parse_table(variable: str) -> object:
    """Parse a variable that contains a table as JSON; return any other text unchanged."""
    if not variable.startswith("{"):
        return variable
    try:
        return json.loads(variable)
    except ValueError:
        return variable


def _read_file(path: Path | None) -> dict[str, object]:
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
