"""Values in the form in which the driver takes and returns them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neo4j import Record


class SentList(list[Any]):
    """A list that does not show what is in it.

    The driver writes the parameters of each statement as text for its log, also if nobody reads
    that log. For a large list, that takes ten times as long as sending it does.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"[{len(self)} items]"


class SentText(str):
    """A text that does not show what it says, so that the log of the driver has no secret."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"'{len(self)} characters'"


def sent(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as the driver is to get them: none shows what a user wrote."""
    return {name: _sent(value) for name, value in params.items()}


def create_record(values: Mapping[str, object]) -> Record:
    """Return a record with these values by name."""
    return Record(values)  # type: ignore[no-untyped-call]


def _sent(value: Any) -> Any:
    if isinstance(value, str):
        return SentText(value)
    if isinstance(value, list | tuple):
        return SentList(value)
    return sent(value) if isinstance(value, dict) else value
