"""Parses the ``[scope]`` table of ``pgs.toml``: values that every visible node must have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator

from pgs_neo4j.errors import ConfigError, ScopeError
from pgs_neo4j.model.scope import ScopeValue, make_scope


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


# The values are checked before pydantic sees them, because it would convert some of them.
ScopeValues = Annotated[dict[str, bool | int | float | str], BeforeValidator(check_values)]
