"""Loads settings, overrides knobs for a call, and stores them.

The precedence is default < ``pgs.toml`` < environment < call. ``pgs.toml`` is the file that
``PGS_CONFIG`` names, or else the file in the working directory, or else the file in the user's
configuration directory. Its keys are the names of the settings. The environment variables are the
same names in capitals after ``PGS_``. ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` apply if the
settings have no value of their own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

from pydantic import ValidationError
from pydantic_settings import SettingsError

from pgs_neo4j.config.declaration import NoneAllowed, declarations
from pgs_neo4j.config.knobs import PGSConfig
from pgs_neo4j.config.provenance import (
    Provenance,
    Source,
    Sourced,
    check_name,
    read_sources_once,
    unknown_name,
)
from pgs_neo4j.config.search_table import SEARCH_KEYS
from pgs_neo4j.config.settings import Settings
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.text.invalid_values import describe_any

_FIELD = re.compile(r'field "(\w+)"')  # the name of a field in a message of pydantic-settings
Origin = Literal["default", "file", "environment", "call"]
ORIGINS: dict[Source, Origin] = {
    "default": "default",
    "call": "call",
    "environment": "environment",
    "customary": "environment",
    "named": "file",
    "user": "file",
    "directory": "file",
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings and knobs in force, and the source of each value.

    ``origins`` are the kinds of the sources, and ``provenance`` has the exact sources. ``standing``
    are the knobs as the file and the environment set them, even if the call overrides them.
    """

    settings: Settings
    config: PGSConfig
    origins: dict[str, Origin]
    provenance: Provenance
    standing: dict[str, Any]


def load(overrides: Mapping[str, object] | None = None, arguments: Collection[str] = ()) -> Loaded:
    """Collect settings from all sources; ``overrides`` of None are ignored.

    ``arguments`` are the other names that the call accepts, for suggestions after a misspelling.
    Raises ConfigError, naming the setting, if a setting is unknown or out of range.
    """
    values = _drop_none(overrides or {})
    for name in values:
        check_name(name, "the call", arguments)
    _check_limits(os.environ)
    with read_sources_once() as inputs:
        settings = _build(Settings, _select_fields(Settings, values))
        knobs = _build(PGSConfig, _select_fields(PGSConfig, values))
        standing = _find_standing(knobs, values)
    names = (*Settings.model_fields, *PGSConfig.model_fields, *SEARCH_KEYS)
    provenance = inputs.trace(names, values)
    origins = {name: ORIGINS[source] for name, source in provenance.sources.items()}
    return Loaded(settings, knobs, origins, provenance, standing)


def _check_limits(variables: Mapping[str, str]) -> None:
    """Raise ConfigError if the variable of a limit is empty.

    A script that failed to find the limit would set an empty one, and then pay without a limit.
    """
    limits = {f"PGS_{one.name.upper()}" for one in declarations(PGSConfig) if one.is_limit}
    for name, value in variables.items():
        if name.upper() in limits and not value.strip():
            raise ConfigError(
                f"{name} is empty; write the limit, write none for no limit, or unset it"
            )


def _find_standing(knobs: PGSConfig, values: Mapping[str, object]) -> dict[str, Any]:
    """Return the knobs as the file and the environment set them, without the call's values.

    If the configured values are invalid without the call, knobs that the call sets are left out.
    """
    overridden = _select_fields(PGSConfig, dict(values))
    try:
        alone = _build(PGSConfig, {}) if overridden else knobs
    except ConfigError:
        set_names = knobs.model_fields_set - overridden.keys()
        return {name: getattr(knobs, name) for name in set_names}
    return {name: getattr(alone, name) for name in alone.model_fields_set}


def with_overrides(
    config: PGSConfig, overrides: Mapping[str, object], arguments: Collection[str] = ()
) -> PGSConfig:
    """Return the same knobs with all ``overrides`` that are not None. Raises ConfigError.

    ``arguments`` are the other names that the call accepts, for suggestions after a misspelling.
    """
    values = _drop_none(overrides)
    for name in values:
        if name not in PGSConfig.model_fields:
            raise unknown_name(name, "the call", [*PGSConfig.model_fields, *arguments])
    return _build(PGSConfig, config.model_dump(exclude_unset=True) | values) if values else config


def stored(config: PGSConfig) -> str:
    """Return the knobs as JSON, with the names of the knobs that were set."""
    form = {"values": config.model_dump(mode="json"), "set": sorted(config.model_fields_set)}
    return json.dumps(form)


def restored(text: object, overrides: Mapping[str, object]) -> PGSConfig:
    """Return stored knobs with all ``overrides`` that are not None.

    Raises ConfigError if an override is invalid, or if another program changed the stored knobs.
    """
    form = _stored_form(text)
    values = _drop_none(overrides)
    config = _build(PGSConfig, form["values"] | values)
    fields = set(form["set"]) | values.keys()
    return PGSConfig.model_construct(_fields_set=fields, **dict(config))


Limit = TypeVar("Limit", int, float)


def lower_limit(text: object, name: str, most: Limit | None) -> Limit | None:
    """Return the lower of ``most`` and the stored limit ``name``; None if neither exists.

    Raises ConfigError if another program has changed the stored knobs.
    """
    own: Any = _stored_form(text)["values"].get(name)
    if isinstance(own, bool) or not isinstance(own, int | float | None):
        raise _changed_error()
    limits = [limit for limit in (most, cast("Limit | None", own)) if limit is not None]
    return min(limits, default=None)


def _stored_form(text: object) -> dict[str, Any]:
    """Parse stored knobs into ``values`` and ``set``. Raises ConfigError for any other form."""
    try:
        form: Any = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        form = None
    whole = isinstance(form, dict) and isinstance(form.get("values"), dict)
    if form is None or not whole or not isinstance(form.get("set"), list):
        raise _changed_error()
    if not all(isinstance(name, str) for name in form["set"]):
        raise _changed_error()
    return {"values": form["values"], "set": form["set"]}


def _changed_error() -> ConfigError:
    return ConfigError(
        "the settings of the run were changed by another program, and cannot be read; ask the "
        "question again instead of resuming the run"
    )


Built = TypeVar("Built", bound=Sourced)


def _build(cls: type[Built], values: dict[str, Any]) -> Built:
    """Return the settings with the values of a call. Raises ConfigError for invalid values."""
    try:
        return cls(**values)
    except ValidationError as error:
        details = [dict(detail) for detail in error.errors()]
        raise ConfigError("; ".join(_describe_errors(cls, details))) from None
    except SettingsError as error:
        raise ConfigError(_explain_unreadable(error)) from None


def _explain_unreadable(error: SettingsError) -> str:
    """Return the message for a variable that must contain a table or list as JSON but does not."""
    found = _FIELD.search(str(error))
    which = f"PGS_{found[1].upper()}" if found else "a variable of the environment"
    return f"{which} is not JSON; write its table as JSON, or put it into pgs.toml"


def _describe_errors(cls: type[Sourced], details: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each invalid setting.

    A setting of several possible types has one error for each type, and they become one sentence.
    """
    by_name: dict[str, list[dict[str, Any]]] = {}
    for detail in details:
        name = str(detail["loc"][0]) if detail["loc"] else cls.__name__
        by_name.setdefault(name, []).append(detail)
    for name, own in by_name.items():
        field = cls.model_fields.get(name)
        nullable = field is not None and NoneAllowed in field.metadata
        yield describe_any(f"{name} (PGS_{name.upper()})", own, none_allowed=nullable)


def _drop_none(values: Mapping[str, object]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _select_fields(cls: type[Sourced], values: Mapping[str, object]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in cls.model_fields}
