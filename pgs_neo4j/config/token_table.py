"""Parses a ``[[token]]`` table of ``pgs.toml``: who may use the server, and for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    field_validator,
)
from pydantic_core import PydanticCustomError

from pgs_neo4j.config.declaration import LIST, TABLE
from pgs_neo4j.config.scope_table import ScopeValues
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.text.invalid_values import describe_invalid, name_place

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
"""The pattern for names of tokens and of graphs."""
NAME_FORM = (
    "1 to 64 letters, digits, underscores, periods, or hyphens, and begin with a letter or a digit"
)
DIGEST = r"^[0-9a-fA-F]{64}$"
FORMS = {NAME: NAME_FORM, DIGEST: "64 hexadecimal digits, as 'pgs token' prints them"}
"""The patterns in words that follow "must be" in a message."""
Role = Literal["metrics", "reader", "asker", "operator"]
"""The roles of tokens.

A ``reader`` may read, an ``asker`` may also ask, and an ``operator`` may also change graphs and
start jobs. ``metrics`` may only read the metrics.
"""
ROLES: tuple[Role, ...] = get_args(Role)


class TokenEntry(BaseModel):
    """A token for the server. Only its hash is stored; `pgs token` makes both.

    A table must name the role. Without ``graphs``, the token sees all graphs; with an empty list,
    it sees no graph.
    """

    model_config = TABLE

    name: Annotated[
        str,
        Field(
            pattern=NAME,
            description="who holds it; its sessions are apart from those of others",
        ),
    ]
    sha256: Annotated[
        str,
        Field(
            pattern=DIGEST,
            description="SHA-256 of the token, in hexadecimal",
            repr=False,
        ),
    ]
    role: Annotated[
        Role,
        Field(
            description="reader: see; asker: also ask; operator: also add graphs, start jobs; "
            "metrics: only the metrics"
        ),
    ]
    graphs: Annotated[
        tuple[Annotated[str, Field(pattern=NAME)], ...] | None,
        LIST,
        Field(description="graphs that it sees; unset: all of them; an empty list: none"),
    ] = None
    scope: Annotated[
        ScopeValues,
        Field(description="values that every node must have, or the token does not see it"),
    ] = {}
    runs: Annotated[int | None, Field(ge=1, description="most runs in progress at once")] = None
    cost_per_day: Annotated[
        float | None,
        Field(
            gt=0.0,
            allow_inf_nan=False,
            description="most that it may spend on a day (UTC)",
        ),
    ] = None

    @field_validator("graphs", "runs", "cost_per_day", mode="before")
    @classmethod
    def refuse_null(cls, value: object) -> object:
        """Refuse null, which a program may write for a missing value and which would allow all."""
        if value is None:
            raise PydanticCustomError("null", "null allows nothing and forbids nothing")
        return value


def entries(values: object) -> tuple[TokenEntry, ...]:
    """Return the entries in their order. Raises ConfigError, naming the entry."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise ConfigError("token is not a list of tables; write each entry under [[token]]")
    tokens = tuple(_parse_entry(number, value) for number, value in enumerate(values, 1))
    names = [entry.name for entry in tokens]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"two tokens have the name {twice}; give each a name of its own")
    _check_hashes(tokens)
    return tokens


# This is the type of a settings field. Its errors name the entry, unlike pydantic's errors.
TokenEntries = Annotated[tuple[TokenEntry, ...], BeforeValidator(entries)]


def _check_hashes(tokens: Sequence[TokenEntry]) -> None:
    """Raise ConfigError if two tables have the same token, because their rights may differ."""
    holders: dict[str, str] = {}
    for entry in tokens:
        other = holders.setdefault(entry.sha256.lower(), entry.name)
        if other != entry.name:
            raise ConfigError(
                f"{other} and {entry.name} have the same token; make each its own with 'pgs token'"
            )


def _parse_entry(number: int, value: object) -> TokenEntry:
    if isinstance(value, TokenEntry):
        return value
    if not isinstance(value, dict):
        raise ConfigError(f"token entry {number} is not a table; write it under [[token]]")
    try:
        return TokenEntry.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ConfigError(f"token entry {number}: {_describe_error(first)}") from None


def _describe_error(detail: Any) -> str:
    where = name_place(detail["loc"], "the entry")
    if detail["loc"] == ("role",):
        what = "is missing" if detail["type"] == "missing" else "is not known"
        return f"role {what}; write one of {', '.join(ROLES)}"
    if detail["type"] == "missing":
        return f"{where} is missing; 'pgs token' prints an entry with all keys"
    if detail["type"] == "null":
        return f"{where} is null; leave it out to limit nothing, or write the limit"
    if detail["loc"] == ("graphs",):
        return 'graphs is not a list of names; write graphs = ["papers"], or leave it out for all'
    return describe_invalid(where, detail, TokenEntry.model_fields, FORMS)
