"""The graphdatascience client on a database's own connection pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds.calls import Owner, run_supervised
from pgs_neo4j.database.version import parse_version
from pgs_neo4j.errors import DatabaseVersionError, GDSMissingError, QueryError

if TYPE_CHECKING:
    from graphdatascience import GraphDataScience

    from pgs_neo4j.database.gds.runner import DatabaseRunner

MINIMUM_VERSION = (2, 13)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class GDS:
    """A Graph Data Science client, made by ``open_gds``.

    All projections and statements of an ``owner`` carry its name, so that a successor can end
    them."""

    db: Database
    client: GraphDataScience
    runner: DatabaseRunner
    version: str
    owner: Owner | None = None

    def owned_by(self, owner: Owner) -> GDS:
        """Return the same client, working for a job."""
        return replace(self, owner=owner)

    async def run(self, work: Callable[[], Result]) -> Result:
        """Return the result of work with the client; see ``calls.run_supervised``."""
        return await run_supervised(self.db, work, self.owner)


async def open_gds(db: Database) -> GDS:
    """Open the client on a database.

    Raises GDSMissingError when the library is not installed, DatabaseVersionError when it is too
    old.
    """
    version = await installed_version(db)
    if parse_version(version) < MINIMUM_VERSION:
        wanted = ".".join(map(str, MINIMUM_VERSION))
        raise DatabaseVersionError(
            f"Graph Data Science on the server is {version}; {wanted} or newer is needed, "
            "so upgrade the plugin"
        )
    client, runner = await run_supervised(db, lambda: _client(db))
    return GDS(db=db, client=client, runner=runner, version=version)


async def installed_version(db: Database) -> str:
    """Return the version of the server's GDS. Raises GDSMissingError without one."""
    try:
        rows = await db.read(queries.get("database/gds/read_gds_version"))
    except QueryError as error:
        raise GDSMissingError(
            f"Neo4j at {db.uri} has no Graph Data Science library; install the "
            "graph-data-science plugin and allow gds.* in dbms.security.procedures.unrestricted"
        ) from error
    return str(rows[0]["version"])


def _client(db: Database) -> tuple[GraphDataScience, DatabaseRunner]:
    # Imported here: the client imports pandas and pyarrow, which takes seconds.
    from graphdatascience import GraphDataScience

    from pgs_neo4j.database.gds.runner import DatabaseRunner

    runner = DatabaseRunner(db)
    return GraphDataScience(runner, arrow=False, show_progress=False), runner
