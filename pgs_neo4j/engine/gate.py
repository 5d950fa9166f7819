"""``pgs.gate``: reads the database by Cypher of users and agents, if it is one plain read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pgs_neo4j.database.gate.reading import ReadLimits, check_statement, read_statement
from pgs_neo4j.engine.core import Core
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import StatementRows

MOST_ROWS = 10_000
MOST_SECONDS = 600.0
BYTES_PER_ROW = 1_000
"""Bytes of JSON that the limit on size allows for each row of the limit on rows."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Reads by one Cypher statement, which is refused if it could do more than read.

    Called, it reads: ``await pgs.gate("MATCH (p:Paper) RETURN count(p)")``.
    """

    _core: Core

    async def __call__(
        self,
        statement: str,
        parameters: Mapping[str, object] | None = None,
        *,
        max_rows: int = 200,
        timeout_s: float = 10.0,
    ) -> StatementRows:
        """Return the first rows of a statement, at most ``max_rows``, as plain values.

        The rows take at most 1,000 bytes of JSON each on average. Embeddings are left out of nodes.
        Nothing is written, and nothing that pgs wrote is read. Raises GateError if the statement is
        more than one plain read or if the server cannot read it, DatabaseTimeoutError if it takes
        more than ``timeout_s`` seconds, and UsageError for limits out of range.
        """
        return await read_statement(
            self._core.db, statement, parameters, _check_limits(max_rows, timeout_s)
        )

    async def check(self, statement: str, parameters: Mapping[str, object] | None = None) -> str:
        """Return the statement as it would be sent, without running it.

        Raises GateError.
        """
        limits = ReadLimits()
        return await check_statement(
            self._core.db, statement, dict(parameters or {}), limits.seconds
        )


def _check_limits(max_rows: int, timeout_s: float) -> ReadLimits:
    if not 1 <= max_rows <= MOST_ROWS:
        raise UsageError(f"max_rows is {max_rows}; choose a number from 1 to {MOST_ROWS:,}")
    if not 0 < timeout_s <= MOST_SECONDS:
        raise UsageError(
            f"timeout_s is {timeout_s:g}; choose a number of seconds up to {MOST_SECONDS:g}"
        )
    return ReadLimits(seconds=timeout_s, rows=max_rows, size_bytes=BYTES_PER_ROW * max_rows)
