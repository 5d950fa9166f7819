"""``pgs.graphs``: named views of the database, their names, and their state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.lease import LONGEST_S
from pgs_neo4j.database.schema import read_change_token
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.catalog import GraphChange, StoredGraph, StoredNames
from pgs_neo4j.engine.core import Core
from pgs_neo4j.model import GraphMapping

if TYPE_CHECKING:
    from pgs_neo4j.engine.facade import PGS


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphState:
    """The state of a graph. The figures of its partitions are None before there are any.

    ``age_s`` is the number of seconds since the current partitions were made. ``changed`` is true
    if another program has committed since the partitions were last known to be valid, and None if
    that is unknown. ``drift`` is the share of the graph that had changed (0 to 1) when a job last
    measured it. ``leased`` is true while a job holds the lease.
    """

    graph: str
    age_s: float | None
    nodes: int | None
    partitions: int | None
    changed: bool | None
    drift: float | None
    leased: bool


@dataclass(frozen=True, slots=True)
class Graphs:
    """Stored graphs. Called, it lists them: ``await pgs.graphs()``."""

    _core: Core

    async def __call__(self) -> list[StoredGraph]:
        """Return all stored graphs, by name."""
        if not self._core.restriction:
            return await catalog.graphs(self._core.db)
        opened = await self._core.opened_all()
        return [await core.graph(name) for name, core in opened.items()]

    async def get(self, name: str | None = None) -> StoredGraph:
        """Return a stored graph; without a name, the configured or only one.

        Raises UnknownGraphError.
        """
        return await (await self._core.opened(name)).graph(name)

    async def states(self) -> list[GraphState]:
        """Return the state of all graphs, by name: the age of partitions, changes, and leases."""
        if not self._core.restriction:
            return await read_graph_states(self._core.db)
        opened = await self._core.opened_all()
        return [state for core in opened.values() for state in await read_graph_states(core.db)]

    async def add(self, name: str, mapping: GraphMapping, *, replace: bool = False) -> bool:
        """Store a named mapping; True when the name is new.

        The database is not consulted; ``validate`` does that. The call may be repeated. Raises
        GraphExistsError when the name has another mapping, unless ``replace`` is set, and
        MappingError when the name or the mapping is malformed.
        """
        self._core.require_unrestricted("this stores a graph")
        return await catalog.add(self._core.db, name, mapping, replace=replace)

    async def compare(self, name: str, mapping: GraphMapping) -> GraphChange | None:
        """Return what a mapping would change in a stored graph, and what that invalidates.

        None when no graph has the name, or when it has the same mapping.
        """
        self._core.require_unrestricted("this compares the stored graph")
        return await catalog.compare(self._core.db, name, mapping)

    async def validate(self, mapping: GraphMapping, *, allow_missing: bool = False) -> list[str]:
        """Compare a mapping with the database; return the warnings, one sentence each.

        Types of values are looked up in a sample. Raises MappingError when most values of a
        property have the wrong type, or when more than a few nodes share their keys. Unless
        ``allow_missing`` is set, also raises it when nothing in the database has one of the
        mapping's labels, relationship types, or properties. Within a scope, nothing is compared,
        because a survey reads the whole database; a warning says so.
        """
        if self._core.db.scope:
            return ["within a scope, the mapping is not compared with the database"]
        from pgs_neo4j.engine import survey

        return await survey.validate(self._core.db, mapping, allow_missing=allow_missing)

    async def remove(self, name: str) -> None:
        """Delete a graph's partitions, sessions, and mapping; its nodes stay.

        Raises UnknownGraphError.
        """
        self._core.require_unrestricted("this removes a graph")
        await catalog.remove(self._core.db, name)


async def read_graph_states(db: Database) -> list[GraphState]:
    """Return the state of all graphs, by name, without scanning any of them."""
    rows = await db.read(queries.get("engine/read_graph_states"), longest=LONGEST_S)
    token = await read_change_token(db) if rows else None
    states = []
    for row in rows:
        graph = db.scope.unqualify(row["graph"]) if db.scope else row["graph"]
        if graph is None:
            continue
        row["graph"] = graph
        verified = row.pop("verified")
        known = None not in (token, verified)
        states.append(GraphState(changed=token != verified if known else None, **row))
    return states


async def read_names(pgs: PGS, limit: int) -> StoredNames:
    """Return at most ``limit`` names of each kind."""
    return await catalog.read_names(pgs.db, limit)
