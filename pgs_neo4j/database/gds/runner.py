"""The graphdatascience client's query runner on this package's Database.

It is in a separate module because importing the client's base class takes seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphdatascience.call_parameters import CallParameters
from graphdatascience.query_runner import QueryRunner
from graphdatascience.query_runner.query_mode import QueryMode
from graphdatascience.query_runner.query_type import QueryType
from graphdatascience.versions import ServerVersion
from pandas import DataFrame

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Access, Database
from pgs_neo4j.database.gds import client
from pgs_neo4j.database.queries import Row

if TYPE_CHECKING:
    import neo4j


class DatabaseRunner(QueryRunner):  # type: ignore[misc]  # the client is untyped here
    """Runs the client's statements on the event loop that owns the pool.

    Called only from the worker thread of ``client.run_supervised``.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._gds_version: ServerVersion | None = None

    def project(self, text: str, params: Row) -> bool:
        """Run a projection statement of this package; return False if it matched nothing.

        The client's own method would treat an empty projection as a malformed statement.
        """
        _, rows = client.current_call().run(text, params, "read")
        return any(row["graph"] is not None for row in rows)

    def run_cypher(
        self,
        query: str,
        query_type: QueryType,
        params: Row | None = None,
        database: str | None = None,
        mode: QueryMode | None = None,
        custom_error: bool = True,
    ) -> DataFrame:
        """Run one statement and return its rows as a table."""
        del query_type, database, custom_error
        access: Access = "read" if mode is QueryMode.READ else "write"
        # In the database's default language, the client's statements may mean something else.
        text = queries.prefix(query)
        columns, rows = client.current_call().run(text, dict(params or {}), access)
        return DataFrame(rows, columns=columns)

    # The job repeats a projection if necessary, so the client must not.
    run_retryable_cypher = run_cypher

    def call_function(
        self,
        endpoint: str,
        query_type: QueryType = QueryType.USER_TRANSPILED,
        params: CallParameters | None = None,
    ) -> object:
        """Call a GDS function and return its value."""
        parameters = params or CallParameters()
        text = f"RETURN {endpoint}({parameters.placeholder_str()}) AS value"
        return self.run_cypher(text, query_type, parameters, mode=QueryMode.READ).iloc[0, 0]

    def call_procedure(
        self,
        endpoint: str,
        query_type: QueryType = QueryType.USER_TRANSPILED,
        params: CallParameters | None = None,
        yields: list[str] | None = None,
        database: str | None = None,
        mode: QueryMode = QueryMode.READ,
        logging: bool = False,
        retryable: bool = False,
        custom_error: bool = True,
    ) -> DataFrame:
        """Call a GDS procedure and return its rows."""
        del logging, retryable
        parameters = params or CallParameters()
        tail = f" YIELD {', '.join(yields)}" if yields else ""
        text = f"CALL {endpoint}({parameters.placeholder_str()}){tail}"
        return self.run_cypher(text, query_type, parameters, database, mode, custom_error)

    def server_version(self) -> ServerVersion:
        """Return the version of the server's GDS."""
        if self._gds_version is None:
            self._gds_version = ServerVersion.from_string(str(self.call_function("gds.version")))
        return self._gds_version

    def database(self) -> str | None:
        """Return the name of the database; None for the user's home database."""
        return self._db.name

    def set_database(self, database: str) -> None:
        """Refuse: the connection fixes the database."""
        raise ValueError(f"the database is fixed by the connection and cannot become {database}")

    def driver_config(self) -> Row:
        """Return an empty configuration: this package owns the pool."""
        return {}

    def db_driver(self) -> neo4j.Driver:
        """Refuse: this runner has no synchronous driver."""
        raise ValueError("this runner has no synchronous driver")

    def encrypted(self) -> bool:
        """Return whether the connection is encrypted."""
        return "+s" in self._db.uri.partition("://")[0]

    def bookmarks(self) -> neo4j.Bookmarks | None:
        """Return None: the pool has its own bookmarks."""
        return None

    def last_bookmarks(self) -> neo4j.Bookmarks | None:
        """Return None: the pool has its own bookmarks."""
        return None

    def set_bookmarks(self, bookmarks: neo4j.Bookmarks | None) -> None:
        """Ignore the bookmarks: the pool has its own."""

    def set_show_progress(self, show_progress: bool) -> None:
        """Ignore the request: progress is reported by events."""

    def read_connection_info(self) -> neo4j.Address:
        """Return the host and port of the server."""
        return self._db.address()

    def cloneWithoutRouting(self, host: str, port: int) -> QueryRunner:  # noqa: N802 - client's name
        """Refuse: only the Arrow server of the Enterprise Edition needs it."""
        raise ValueError(f"no runner for {host}:{port}: connect to it instead")
