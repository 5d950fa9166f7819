"""What a Cypher statement of a user or a model read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedValue:
    """A text in a statement that no node has, and the stored value that was read instead.

    ``label`` and ``property`` say where the value is stored.
    """

    label: str
    property: str
    written: str
    linked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementTry:
    """A statement that could not be used, and why, in a sentence."""

    statement: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementRows:
    """The rows of a statement, in its order, as plain values.

    ``statement`` is the text that the server read. ``truncated`` is true if there are more rows
    than the limits allow. ``tries`` are earlier statements of the model, in order. ``linked`` are
    values that were changed to stored ones. If there are no rows, ``empty`` says which parts of the
    statement match nothing. ``writer`` is the name of the model that wrote the statement; it is
    empty if the user wrote it, or if it was made from the question's words.
    """

    statement: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    truncated: bool = False
    tries: tuple[StatementTry, ...] = ()
    linked: tuple[LinkedValue, ...] = ()
    empty: tuple[str, ...] = ()
    writer: str = ""
