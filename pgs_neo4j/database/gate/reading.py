"""Checks a statement that a user or a model wrote, and reads its rows within limits.

The statement is divided into tokens (``tokens``), checked by its tokens (``rules``, ``effort``) and
by its plan (``plan``), and then read in READ mode. The text that is planned and read is written
from the tokens, so the server gets exactly what was checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gate.effort import check_effort
from pgs_neo4j.database.gate.plan import check_plan
from pgs_neo4j.database.gate.rules import check_tokens
from pgs_neo4j.database.gate.tokens import Token, read_tokens, write_tokens
from pgs_neo4j.database.gate.values import plain_value, size_bytes
from pgs_neo4j.errors import (
    DatabaseMemoryError,
    DatabaseTimeoutError,
    GateError,
    QueryError,
)
from pgs_neo4j.model import StatementRows
from pgs_neo4j.text.node_text import shortened

UNREADABLE = (GateError, QueryError, DatabaseTimeoutError, DatabaseMemoryError)
"""Errors of one statement; another statement may pass."""
MOST_NAMED = 5  # parameters in a message
# What Neo4j says about a statement, and the position in it, which is not that of the user's text.
_REFUSED = re.compile(r"Neo4j refused a statement \(Neo\.ClientError\.[\w.]+\): (.*)", re.DOTALL)
_POSITION = re.compile(r" ?\(line \d+, column \d+ \(offset: \d+\)\)")
_short = partial(shortened, length=40)


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits of one statement: seconds, rows, and bytes of JSON of all its rows."""

    seconds: float = 10.0
    rows: int = 200
    size_bytes: int = 200_000


async def read_statement(
    db: Database,
    statement: str,
    params: Mapping[str, object] | None = None,
    limits: ReadLimits | None = None,
) -> StatementRows:
    """Return the rows of a statement, up to the limits.

    Raises GateError if it is more than one plain read or if the server cannot read it, and
    DatabaseTimeoutError if it takes too long.
    """
    values, most = dict(params or {}), limits or ReadLimits()
    text = await check_statement(db, statement, values, most.seconds)
    with _explain_failures(most.seconds):
        columns, records, truncated = await db.read_some(
            queries.prefix(text), values, most.seconds, most.rows
        )
    rows: list[tuple[object, ...]] = []
    room = most.size_bytes
    for record in records:
        row = tuple(plain_value(record[column]) for column in columns)
        room -= size_bytes(row)
        if room < 0:
            truncated = True
            break
        rows.append(row)
    return StatementRows(
        statement=text, columns=tuple(columns), rows=tuple(rows), truncated=truncated
    )


async def check_statement(
    db: Database, statement: str, params: Mapping[str, object], timeout_s: float
) -> str:
    """Return the text of a statement as it may be sent. Raises the errors of ``read_statement``."""
    tokens = read_tokens(statement)
    check_tokens(tokens)
    check_params(tokens, params)
    check_effort(tokens, params)
    text = write_tokens(tokens)
    with _explain_failures(timeout_s):
        check_plan(*await db.explain(queries.prefix(text), dict(params), timeout_s))
    return text


def check_params(tokens: Sequence[Token], params: Mapping[str, object]) -> None:
    """Raise GateError if a statement has parameters without a value."""
    names = dict.fromkeys(one.text for one in tokens if one.kind == "parameter")
    missing = [f"${name}" for name in names if name not in params]
    if missing:
        raise GateError(
            f"the statement has no value for {', '.join(map(_short, missing[:MOST_NAMED]))}; give "
            "one, or write the value itself into the statement"
        )


@contextmanager
def _explain_failures(timeout_s: float) -> Iterator[None]:
    """Raise errors of the server about the statement as errors that its writer understands."""
    try:
        yield
    except DatabaseTimeoutError as error:
        raise DatabaseTimeoutError(
            f"the statement takes more than {timeout_s:g} s; ask for less, such as fewer hops, a "
            "label or property that fewer nodes have, or no product of two sets of nodes"
        ) from error
    except QueryError as error:
        refused = _REFUSED.fullmatch(str(error))
        if refused is None:
            raise
        raise GateError(
            f"Neo4j cannot read the statement: {_POSITION.sub('', refused[1])}"
        ) from error
