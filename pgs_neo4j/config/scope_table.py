"""Parses the settings that limit what an engine sees: ``[scope]``, ``where``, and ``as_of``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from pgs_neo4j.errors import ConditionError, ConfigError, ScopeError
from pgs_neo4j.model.scope import ScopeValue, make_scope
from pgs_neo4j.text.restriction import make_restriction


def check_values(values: object) -> dict[str, ScopeValue]:
    """Return the checked values of a scope. Raises ConfigError."""
    if not isinstance(values, Mapping):
        raise ConfigError(
            "scope is not a table; write each value as PROPERTY = value under [scope]"
        )
    try:
        return make_scope(values).as_dict()
    except ScopeError as error:
        raise ConfigError(str(error)) from None


def check_condition(text: str) -> str:
    """Return a condition that can be parsed. Raises ConfigError."""
    try:
        make_restriction(where=text)
    except ConditionError as error:
        raise ConfigError(f"where: {error}") from None
    return text


def check_date(text: str) -> str:
    """Return a date that can be parsed. Raises ConfigError."""
    try:
        make_restriction(as_of=text)
    except ConditionError as error:
        raise ConfigError(f"as_of: {error}") from None
    return text


ConditionText = Annotated[str, AfterValidator(check_condition)]
DateText = Annotated[str, AfterValidator(check_date)]
# The values are checked before pydantic sees them, because it would convert some of them.
ScopeValues = Annotated[dict[str, bool | int | float | str], BeforeValidator(check_values)]
