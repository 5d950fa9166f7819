"""The only asynchronous door to Neo4j.

It runs a Query under a deadline and returns its rows. Driver errors become errors of this package,
and messages never contain parameter values. All sessions share one bookmark manager, so reads see
earlier writes, on a cluster as on a single server.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import neo4j
from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, AsyncSession
from neo4j.exceptions import DriverError, IncompleteCommit, Neo4jError

from pgs_neo4j.database import queries
from pgs_neo4j.database.address import check_address, secured, shown_address
from pgs_neo4j.database.bookmarks import Position, parse_position
from pgs_neo4j.database.driver_errors import translate_errors
from pgs_neo4j.database.queries import Query, QueryMode
from pgs_neo4j.errors import DatabaseVersionError
from pgs_neo4j.telemetry import names
from pgs_neo4j.telemetry.spans import SpanNotes, start_span

Row = dict[str, Any]
Access = Literal["read", "write"]

MINIMUM_VERSION = (5, 26)
LOST_S = 0.2  # pause after the acknowledgement of a commit was lost
PATIENCE_S = 60.0  # how long a statement is retried while the server restarts


@dataclass(slots=True)
class Database:
    """A connection pool to one database, opened and closed by ``connect``."""

    driver: AsyncDriver = field(repr=False)
    uri: str
    name: str | None
    timeout_s: float
    bookmarks: neo4j.AsyncBookmarkManager = field(repr=False)
    version: str = ""
    edition: str = ""
    languages: tuple[str, ...] = ("5",)

    async def read(self, query: Query, **params: object) -> list[Row]:
        """Return all rows of a read statement.

        Retried on transient faults within the deadline.
        """
        _check(query, params, ("read",))
        with self._span(query.name):
            return await self._managed("read", query.text, params)

    async def write(self, query: Query, **params: object) -> list[Row]:
        """Return all rows of a write statement, run in one transaction.

        Retried on transient faults, and when the acknowledgement of a commit was lost.
        So every write statement must be harmless to repeat.
        """
        _check(query, params, ("write", "data", "schema"))
        with self._span(query.name):
            return await self._managed(query.mode, query.text, params)

    async def rehearse(self, query: Query, **params: object) -> list[Row]:
        """Run a write statement, roll it back, and return its rows."""
        _check(query, params, ("write", "data"))
        with self._span(query.name), self._translate_errors():
            async with (
                asyncio.timeout(self.timeout_s),
                self._session("write") as session,
                await session.begin_transaction() as transaction,
            ):
                result = await transaction.run(query.text, params)
                rows = [dict(record) async for record in result]
                await transaction.rollback()
                return rows

    async def batch(self, query: Query, **params: object) -> list[Row]:
        """Return the rows of a self-committing batch statement; never retried."""
        _check(query, params, ("batch",))
        return (await self.call(query.text, params, "write", name=query.name))[1]

    async def stream(
        self, query: Query, *, fetch: int = 1000, **params: object
    ) -> AsyncIterator[Row]:
        """Yield the rows of a read statement as they arrive.

        The deadline applies to each fetch. Never retried, because the caller has seen rows.
        """
        _check(query, params, ("read",))
        with self._span(query.name), self._translate_errors():
            async with self._session("read", fetch) as session:
                async with asyncio.timeout(self.timeout_s):
                    result = await session.run(query.text, params)
                rows = aiter(result)
                while True:
                    async with asyncio.timeout(self.timeout_s):
                        record = await anext(rows, None)
                    if record is None:
                        return
                    yield dict(record)

    async def call(
        self,
        text: str,
        params: Row,
        access: Access,
        timeout_s: float | None = None,
        metadata: Row | None = None,
        name: str = names.GDS,
    ) -> tuple[list[str], list[Row]]:
        """Return columns and rows of a statement in an implicit transaction.

        Used for ``gds`` and for batches. The server lists ``metadata`` with the running
        transaction. ``name`` is that of its span.
        """
        with self._span(name), self._translate_errors():
            async with (
                asyncio.timeout(timeout_s or self.timeout_s),
                self._session(access) as session,
            ):
                result = await session.run(neo4j.Query(text, metadata=metadata), params)
                return list(result.keys()), [dict(record) async for record in result]

    async def explain(self, query: Query) -> tuple[str, tuple[str, ...]]:
        """Return a statement's planned type (r, w, rw, or s) and columns."""
        with self._translate_errors():
            async with asyncio.timeout(self.timeout_s), self._session("read") as session:
                result = await session.run(f"EXPLAIN {query.text}", dict.fromkeys(query.params))
                columns = tuple(result.keys())
                summary = await result.consume()
                return str(summary.query_type), columns

    async def read_position(self) -> Position | None:
        """Return the position of the last committed transaction, in O(1).

        None if the form of the bookmark is unknown.
        """
        with self._translate_errors():
            async with asyncio.timeout(self.timeout_s), self._session("read") as session:
                await session.execute_read(_read_nothing)
                raw = (await session.last_bookmarks()).raw_values
        return parse_position(next(iter(raw))) if len(raw) == 1 else None

    def address(self) -> neo4j.Address:
        """Host and port of the server."""
        return neo4j.Address.parse(self.uri.partition("://")[2])

    async def close(self) -> None:
        """Close all connections."""
        await self.driver.close()

    async def _managed(self, mode: QueryMode, text: str, params: Row) -> list[Row]:
        async def work(transaction: AsyncManagedTransaction) -> list[Row]:
            result = await transaction.run(text, params)
            rows = [dict(record) async for record in result]
            if mode == "write":
                counted = await transaction.run(queries.get("database/count_commit").text)
                await counted.consume()
            return rows

        access: Access = "read" if mode == "read" else "write"
        with self._translate_errors():
            async with asyncio.timeout(self.timeout_s), self._session(access) as session:
                if access == "read":
                    # A transaction of its own takes three round trips, and this takes one.
                    try:
                        return await _read_once(session, text, params)
                    except (Neo4jError, DriverError) as error:
                        if not error.is_retryable():
                            raise
                run = session.execute_read if access == "read" else session.execute_write
                while True:
                    try:
                        return await run(work)
                    except IncompleteCommit:
                        # It may have been committed; repeating it is harmless.
                        await asyncio.sleep(LOST_S)

    @asynccontextmanager
    async def _session(self, access: Access, fetch: int = 1000) -> AsyncIterator[AsyncSession]:
        mode = neo4j.READ_ACCESS if access == "read" else neo4j.WRITE_ACCESS
        async with self.driver.session(
            database=self.name,
            default_access_mode=mode,
            bookmark_manager=self.bookmarks,
            fetch_size=fetch,
        ) as session:
            yield session

    def _span(self, name: str) -> SpanNotes:
        """Return the span of a statement: its name, and never its parameters."""
        about = {
            names.DATABASE_SYSTEM: names.NEO4J,
            names.DATABASE_NAMESPACE: self.name,
            names.QUERY_SUMMARY: name,
        }
        return start_span(name, about, client=True)

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_errors(self.uri, self.timeout_s)


@asynccontextmanager
async def connect(
    uri: str,
    user: str,
    password: str | None,
    database: str | None = None,
    timeout_s: float = 300.0,
    connect_timeout_s: float = 15.0,
    *,
    ca: Path | None = None,
) -> AsyncIterator[Database]:
    """Open a pool, check the server, and finally close the pool.

    The server must answer and be new enough. With ``ca``, its certificate must come from one in
    that file. Raises ConfigError (malformed URI), DatabaseAuthError, DatabaseUnavailableError,
    DatabaseVersionError.
    """
    check_address(uri)
    address, options = secured(uri, ca)
    auth = (user, password) if password is not None else None
    shown = shown_address(uri)
    with translate_errors(shown, connect_timeout_s):
        driver = AsyncGraphDatabase.driver(
            address,
            **options,
            auth=auth,
            connection_timeout=connect_timeout_s,
            connection_acquisition_timeout=2 * connect_timeout_s,
            max_transaction_retry_time=min(timeout_s, PATIENCE_S),
            notifications_min_severity="OFF",
            user_agent="pgs-neo4j",
        )
    opened = Database(
        driver=driver,
        uri=shown,
        name=database,
        timeout_s=timeout_s,
        bookmarks=AsyncGraphDatabase.bookmark_manager(),
    )
    try:
        with translate_errors(shown, 2 * connect_timeout_s):
            async with asyncio.timeout(2 * connect_timeout_s):
                await driver.verify_connectivity()
        await _read_server(opened)
        yield opened
    finally:
        await driver.close()


def parse_version(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: ``5.26.30`` gives (5, 26, 30)."""
    return tuple(int(number) for number in re.findall(r"\d+", text.split("-")[0])[:3])


async def _read_server(database: Database) -> None:
    """Note the server's version, edition, and languages, or refuse it."""
    row = (await database.read(queries.get("database/read_components")))[0]
    database.version, database.edition = str(row["version"]), str(row["edition"])
    database.languages = tuple(row["languages"]) or database.languages
    if parse_version(database.version) < MINIMUM_VERSION:
        wanted = ".".join(map(str, MINIMUM_VERSION))
        raise DatabaseVersionError(
            f"Neo4j at {database.uri} is {database.version}; upgrade it to {wanted} or newer"
        )
    if queries.PREFERRED not in database.languages:
        raise DatabaseVersionError(
            f"Neo4j at {database.uri} is {database.version}, which no longer speaks Cypher "
            f"{queries.PREFERRED}; upgrade pgs-neo4j, or use an earlier release of Neo4j"
        )


def _check(query: Query, params: Row, modes: Sequence[str]) -> None:
    if query.mode not in modes:
        raise ValueError(f"{query.name} has mode {query.mode}, and was run as {modes[0]}")
    if params.keys() != set(query.params):
        wrong = ", ".join(sorted(params.keys() ^ set(query.params)))
        raise ValueError(f"{query.name} was run with the wrong parameters: {wrong}")


async def _read_once(session: AsyncSession, text: str, params: Row) -> list[Row]:
    result = await session.run(text, params)
    return [dict(record) async for record in result]


async def _read_nothing(transaction: AsyncManagedTransaction) -> None:
    await (await transaction.run(queries.get("database/read_nothing").text)).consume()
