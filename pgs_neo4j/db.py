"""The only door to Neo4j: runs a Query under a deadline and gives rows back.

Driver errors end here and become errors of this package. Parameter values never appear in
messages. All sessions share one bookmark manager, so a reader sees what was just written,
on a cluster too.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

import neo4j
from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, AsyncSession
from neo4j import exceptions as driver_errors

from pgs_neo4j import queries
from pgs_neo4j.errors import (
    ConfigError,
    DatabaseAuthError,
    DatabaseError,
    DatabaseMemoryError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    DatabaseVersionError,
    QueryError,
)
from pgs_neo4j.queries import Query

Row = dict[str, Any]
Access = Literal["read", "write"]

MINIMUM_VERSION = (5, 26)
SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
SCHEMA_VERSION = 1


@dataclass(slots=True)
class Database:
    """A connection pool to one database. Made by ``connect``; closed by leaving it."""

    driver: AsyncDriver = field(repr=False)
    uri: str
    name: str | None
    timeout_s: float
    bookmarks: neo4j.AsyncBookmarkManager = field(repr=False)
    version: str = ""
    edition: str = ""

    async def read(self, query: Query, **params: Any) -> list[Row]:
        """All rows of a read statement; retried on transient faults within the deadline."""
        _check(query, params, ("read",))
        return await self._managed("read", query.text, params)

    async def write(self, query: Query, **params: Any) -> list[Row]:
        """All rows of a write statement, in one transaction.

        Retried on transient faults, also when the acknowledgement of a commit was lost, so
        every write statement must be harmless to repeat.
        """
        _check(query, params, ("write", "schema"))
        return await self._managed("write", query.text, params)

    async def rehearse(self, query: Query, **params: Any) -> list[Row]:
        """All rows of a write statement whose transaction is rolled back."""
        _check(query, params, ("write",))
        with self._translated():
            async with (
                asyncio.timeout(self.timeout_s),
                self._session("write") as session,
                await session.begin_transaction() as transaction,
            ):
                result = await transaction.run(query.text, params)
                rows = [dict(record) async for record in result]
                await transaction.rollback()
                return rows

    async def batch(self, query: Query, **params: Any) -> list[Row]:
        """Run a statement that commits in batches of its own; never retried."""
        _check(query, params, ("batch",))
        return (await self.call(query.text, params, "write"))[1]

    async def stream(self, query: Query, *, fetch: int = 1000, **params: Any) -> AsyncIterator[Row]:
        """Rows of a read statement as they come; the deadline holds for each fetch.

        Not retried: the caller has already seen rows.
        """
        _check(query, params, ("read",))
        with self._translated():
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
    ) -> tuple[list[str], list[Row]]:
        """Columns and rows of a statement in an implicit transaction, for ``gds`` and batches.

        The server shows ``metadata`` with the transaction while it runs.
        """
        with self._translated():
            async with (
                asyncio.timeout(timeout_s or self.timeout_s),
                self._session(access) as session,
            ):
                result = await session.run(neo4j.Query(text, metadata=metadata), params)
                return list(result.keys()), [dict(record) async for record in result]

    async def explain(self, query: Query) -> tuple[str, tuple[str, ...]]:
        """What the planner makes of a statement: its type (r, w, rw, or s) and its columns."""
        with self._translated():
            async with asyncio.timeout(self.timeout_s), self._session("read") as session:
                result = await session.run(f"EXPLAIN {query.text}", dict.fromkeys(query.params))
                columns = tuple(result.keys())
                summary = await result.consume()
                return str(summary.query_type), columns

    async def ensure_schema(self) -> None:
        """Create our constraints where they are missing; one quick read when they are there."""
        rows = await self.read(queries.get("schema/read_version"))
        if rows and rows[0]["version"] == SCHEMA_VERSION:
            return
        for name in queries.names():
            if name.startswith("schema/constraint_"):
                await self.write(queries.get(name))
        await self.write(queries.get("schema/merge_meta"), version=SCHEMA_VERSION)

    async def close(self) -> None:
        """Close all connections."""
        await self.driver.close()

    async def _managed(self, access: Access, text: str, params: Row) -> list[Row]:
        async def work(transaction: AsyncManagedTransaction) -> list[Row]:
            result = await transaction.run(text, params)
            return [dict(record) async for record in result]

        with self._translated():
            async with asyncio.timeout(self.timeout_s), self._session(access) as session:
                if access == "read":
                    return await session.execute_read(work)
                return await session.execute_write(work)

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

    @contextmanager
    def _translated(self) -> Iterator[None]:
        with translated(self.uri, self.timeout_s):
            yield


@asynccontextmanager
async def connect(
    uri: str,
    user: str,
    password: str | None,
    database: str | None = None,
    timeout_s: float = 300.0,
    connect_timeout_s: float = 15.0,
) -> AsyncIterator[Database]:
    """Open a pool, check that the server answers and is new enough, and close it at the end.

    Raises ConfigError (malformed URI), DatabaseAuthError, DatabaseUnavailableError,
    DatabaseVersionError.
    """
    _check_uri(uri)
    auth = (user, password) if password is not None else None
    with translated(uri, connect_timeout_s):
        driver = AsyncGraphDatabase.driver(
            uri,
            auth=auth,
            connection_timeout=connect_timeout_s,
            connection_acquisition_timeout=2 * connect_timeout_s,
            max_transaction_retry_time=30.0,
            notifications_min_severity="OFF",
            user_agent="pgs-neo4j",
        )
    opened = Database(
        driver=driver,
        uri=uri,
        name=database,
        timeout_s=timeout_s,
        bookmarks=AsyncGraphDatabase.bookmark_manager(),
    )
    try:
        with translated(uri, 2 * connect_timeout_s):
            async with asyncio.timeout(2 * connect_timeout_s):
                await driver.verify_connectivity()
        opened.version, opened.edition = await _server(opened)
        yield opened
    finally:
        await driver.close()


def parse_version(text: str) -> tuple[int, ...]:
    """The leading numbers of a version, ``5.26.30`` as (5, 26, 30)."""
    return tuple(int(number) for number in re.findall(r"\d+", text.split("-")[0])[:3])


async def _server(database: Database) -> tuple[str, str]:
    rows = await database.read(queries.get("schema/read_components"))
    version, edition = str(rows[0]["version"]), str(rows[0]["edition"])
    if parse_version(version) < MINIMUM_VERSION:
        wanted = ".".join(map(str, MINIMUM_VERSION))
        raise DatabaseVersionError(
            f"Neo4j at {database.uri} is {version}; {wanted} or newer is needed, so upgrade it"
        )
    return version, edition


def _check_uri(uri: str) -> None:
    scheme, separator, rest = uri.partition("://")
    if not separator or scheme not in SCHEMES or not rest:
        raise ConfigError(
            f"the Neo4j address has the scheme {scheme if separator else '(none)'}; "
            f"write it as one of {', '.join(SCHEMES)} followed by ://host:port"
        )
    if "@" in rest:
        raise ConfigError(
            "the Neo4j address contains credentials; give them as PGS_NEO4J_USER and "
            "PGS_NEO4J_PASSWORD instead"
        )
    try:
        urlsplit(uri).port  # noqa: B018 - it is read to have it checked
    except ValueError as error:
        raise ConfigError(
            f"the Neo4j address has a host or port that is none ({error}); "
            f"write it as {scheme}://host:7687"
        ) from error


def _check(query: Query, params: Row, modes: Sequence[str]) -> None:
    if query.mode not in modes:
        raise ValueError(f"{query.name} has mode {query.mode}, and was run as {modes[0]}")
    if params.keys() != set(query.params):
        wrong = ", ".join(sorted(params.keys() ^ set(query.params)))
        raise ValueError(f"{query.name} was run with the wrong parameters: {wrong}")


@contextmanager
def translated(uri: str, timeout_s: float) -> Iterator[None]:
    """Turn driver errors into ours."""
    try:
        yield
    except TimeoutError as error:
        raise DatabaseTimeoutError(
            f"Neo4j at {uri} did not answer within {timeout_s:.0f} s; "
            "raise PGS_QUERY_TIMEOUT_S or look at the server"
        ) from error
    except UnicodeEncodeError as error:
        raise QueryError(
            "a value holds half a character (a lone surrogate) and cannot be stored; remove it"
        ) from error
    except driver_errors.Neo4jError as error:
        raise _server_error(uri, error) from error
    except (driver_errors.ServiceUnavailable, driver_errors.SessionExpired, OSError) as error:
        raise DatabaseUnavailableError(
            f"Neo4j at {uri} cannot be reached; check the address and that it is running"
        ) from error
    except driver_errors.ConfigurationError as error:
        raise ConfigError(f"the Neo4j address or its options are wrong: {error}") from error
    except driver_errors.DriverError as error:
        raise DatabaseError(f"the Neo4j driver failed at {uri}: {type(error).__name__}") from error


def _server_error(uri: str, error: driver_errors.Neo4jError) -> DatabaseError:
    code = error.code or ""
    message = (error.message or type(error).__name__).splitlines()[0][:500]
    if isinstance(error, driver_errors.AuthError) or ".Security." in code:
        return DatabaseAuthError(
            f"Neo4j at {uri} refused access ({code.rsplit('.', 1)[-1]}); check PGS_NEO4J_USER, "
            "PGS_NEO4J_PASSWORD, and that user's rights"
        )
    if "TransactionTimedOut" in code or "Terminated" in code:
        return DatabaseTimeoutError(f"Neo4j at {uri} ended the transaction: {message}")
    if "OutOfMemory" in code or "OutOfMemory" in message or "MemoryPool" in code:
        return DatabaseMemoryError(
            f"Neo4j at {uri} ran out of memory for this statement; raise "
            f"server.memory.heap.max_size (PGS_LOCAL_HEAP_MB for the local server): {message}"
        )
    if "DatabaseNotFound" in code:
        return DatabaseError(f"{message} Set PGS_NEO4J_DATABASE to one that exists.")
    if "DatabaseUnavailable" in code or "NotALeader" in code:
        return DatabaseUnavailableError(f"Neo4j at {uri} is not ready: {message}")
    return QueryError(f"Neo4j refused a statement ({code}): {message}")
