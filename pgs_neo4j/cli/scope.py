"""What ``pgs --scope``, ``--where``, and ``--as-of`` let every command see."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.scope import ScopeValue, make_scope

_PAIRS: list[str] = []
_CONDITIONS: dict[str, str] = {}


def choose(pairs: Sequence[str], where: str | None = None, as_of: str | None = None) -> None:
    """Set the options as texts, which a command parses when it needs them.

    ``pairs`` are of the form PROPERTY=VALUE. The command reports malformed options like all of its
    errors.
    """
    _PAIRS[:] = pairs
    _CONDITIONS.clear()
    _CONDITIONS.update(
        {name: text for name, text in (("where", where), ("as_of", as_of)) if text is not None}
    )


def chosen() -> dict[str, object]:
    """Return the settings that the options override. Raises UsageError and ScopeError."""
    values: Mapping[str, ScopeValue] = parse_scope(_PAIRS)
    return {**({"scope": values} if values else {}), **_CONDITIONS}


def parse_scope(pairs: Sequence[str]) -> dict[str, ScopeValue]:
    """Return the values of a scope by property.

    A value that is a number, a boolean, or a text in quotation marks as in JSON is taken as such,
    and any other value as text. Raises UsageError and ScopeError.
    """
    values: dict[str, ScopeValue] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise UsageError(f"--scope {pair[:80]!r} has no value; write --scope PROPERTY=VALUE")
        if name in values:
            raise UsageError(f"--scope names {name[:80]!r} twice; give it one value")
        values[name] = _parse_value(text)
    return make_scope(values).as_dict()


def _parse_value(text: str) -> ScopeValue:
    def refuse(constant: str) -> object:
        raise ValueError(constant)

    try:
        value = json.loads(text, parse_constant=refuse)
    except ValueError:
        return text
    return value if isinstance(value, str | int | float) else text
