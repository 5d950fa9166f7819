"""Views: the nodes of a graph that an engine with a restriction sees.

A view is a node with a relationship from each of its nodes, so that every statement can tell what
belongs to it. A view is checked whenever it is opened. If no other program has committed since the
last check, this costs two short reads. Otherwise, the properties of all nodes are read and
compared, and only what differs is written.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.schema import ensure_schema, read_change_token
from pgs_neo4j.errors import BusyError, ConditionError, UnknownRunError
from pgs_neo4j.model.scope import JOINT, Bound, Scope
from pgs_neo4j.text.commands import shell_word
from pgs_neo4j.text.conditions import list_properties, meets
from pgs_neo4j.text.restriction import Restriction, make_bounds

if TYPE_CHECKING:
    from pgs_neo4j.engine.catalog import StoredGraph

ATTEMPTS = 5
"""Maximum checks of a view that other processes change at the same time."""
PORTION = 50_000
"""Maximum nodes that one transaction adds to a view or removes."""
SAMPLE = 1_000
"""Nodes whose properties an error may suggest."""
DIGITS = 16


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The nodes that meet a restriction, ``ids`` ``(n,)`` ascending.

    ``missing`` are the properties of its condition that no node has.
    """

    ids: NDArray[np.int64]
    missing: tuple[str, ...]


async def open_view(db: Database, graph: StoredGraph, restriction: Restriction) -> Scope:
    """Bring the view of a graph up to date, and return the scope that sees only its nodes.

    Raises ConditionError if the condition names a property that no node of the graph has, or if the
    graph has no dates for ``as_of``; and BusyError if other processes keep changing the view.
    """
    mapping = graph.mapping
    bounds = make_bounds(restriction.as_of, mapping.valid_from, mapping.valid_to)
    if restriction.as_of and not bounds:
        raise ConditionError(
            f"graph {graph.name} has no dates of validity; name their properties with "
            f"'pgs graph add {shell_word(graph.name)} --valid-from PROPERTY --valid-to PROPERTY "
            "--replace', and its other options"
        )
    await ensure_schema(db)
    view = _View(db, graph, restriction, bounds)
    for _ in range(ATTEMPTS):
        if await view.check():
            return Scope(db.scope.values, view.id, bounds)
    raise BusyError(f"other processes keep changing a view of graph {graph.name}; try again")


async def find_graph_of_run(db: Database, run: str) -> str:
    """Return the name of the graph of a run of any view. Raises UnknownRunError."""
    rows = await db.read(queries.get("engine/views/read_graph_of_run"), run=run)
    if not rows:
        raise UnknownRunError(f"there is no run {run[:80]}; 'pgs runs' lists the runs")
    return str(rows[0]["stored"]).partition(JOINT)[0]


async def forget_views(db: Database, graph: str) -> None:
    """Delete the views of a graph."""
    await db.batch(queries.get("engine/views/delete_seen"), base=graph)
    await db.write(queries.get("engine/views/delete_views"), base=graph)


@dataclass(frozen=True, slots=True)
class _View:
    """One view of a graph, in the database of the scope that the graph belongs to."""

    db: Database
    graph: StoredGraph
    restriction: Restriction
    bounds: tuple[Bound, ...]

    @property
    def id(self) -> str:
        """A digest of the graph and the restriction, so that the same question finds its view."""
        name = self.db.scope.qualify(self.graph.name)
        text = json.dumps([name, self.restriction.where_text, self.restriction.as_of])
        return sha256(text.encode()).hexdigest()[:DIGITS]

    @property
    def labels(self) -> list[str]:
        """The labels of the nodes that the graph reads; empty for all."""
        mapping = self.graph.mapping
        return [*dict.fromkeys((*mapping.labels, *mapping.chunk_labels))] if mapping.labels else []

    @property
    def definition(self) -> str:
        """What decides about the nodes of the view besides its id."""
        return json.dumps([self.labels, *([bound.name, bound.high] for bound in self.bounds)])

    async def check(self) -> bool:
        """Bring the nodes of the view up to date; return False if another process changed it."""
        db, token = self.db, await read_change_token(self.db)
        rows = await db.read(queries.get("engine/views/view_by_id"), id=self.id)
        known = rows[0] if rows else None
        if known is not None and _is_verified(known, token, self.definition):
            return True
        wanted = await self._read_candidates()
        if wanted.missing:
            raise await self._explain_missing(wanted.missing)
        if known is None:
            create = queries.get("engine/views/merge_views")
            known = (await db.write(create, id=self.id, base=self.graph.name))[0]
        present = await self._read_present()
        version = await self._apply(
            known["version"],
            np.setdiff1d(wanted.ids, present, assume_unique=True),
            np.setdiff1d(present, wanted.ids, assume_unique=True),
        )
        if version is None:
            return False
        verified = await db.write(
            queries.get("engine/views/set_verified"),
            id=self.id,
            version=version,
            token=token,
            definition=self.definition,
        )
        return bool(verified)

    async def _apply(
        self, version: int, added: NDArray[np.int64], removed: NDArray[np.int64]
    ) -> int | None:
        """Add and remove nodes ``(n,)``; return the new version, None if it was another one."""
        query = queries.get("engine/views/set_seen")
        for at in range(0, max(len(added), len(removed)), PORTION):
            rows = await self.db.write(
                query,
                id=self.id,
                version=version,
                added=added[at : at + PORTION].tolist(),
                removed=removed[at : at + PORTION].tolist(),
            )
            if not rows:
                return None
            version = rows[0]["version"]
        return version

    async def _read_candidates(self) -> _Candidates:
        """Read the properties of all nodes, and return those that meet the restriction."""
        condition = self.restriction.where
        names = list_properties(condition) if condition is not None else ()

        async def take(rows: AsyncIterator[Row]) -> _Candidates:
            found: list[int] = []
            seen, count = set[str](), 0
            async for row in rows:
                count += len(row["ids"])
                if condition is None:
                    found += row["ids"]
                    continue
                for id_, values in zip(row["ids"], row["values"], strict=True):
                    own = dict(zip(names, values, strict=True))
                    seen.update(name for name, value in own.items() if value is not None)
                    if meets(condition, own):
                        found.append(id_)
            missing = tuple(name for name in names if name not in seen) if count else ()
            return _Candidates(np.sort(np.asarray(found, dtype=np.int64)), missing)

        # Nodes are chosen by their values at the date; the view does not exist yet.
        reading = self.db.scoped(replace(self.db.scope, bounds=self.bounds))
        return await reading.stream(
            queries.get("engine/views/read_candidates"),
            take,
            fetch=1,
            labels=self.labels,
            names=list(names),
        )

    async def _read_present(self) -> NDArray[np.int64]:
        """Return the ids ``(n,)`` of the nodes that the view has, ascending."""
        rows = await self.db.read(queries.get("engine/views/read_seen"), id=self.id)
        ids = [id_ for row in rows for id_ in row["ids"]]
        return np.sort(np.asarray(ids, dtype=np.int64))

    async def _explain_missing(self, missing: tuple[str, ...]) -> ConditionError:
        (row,) = await self.db.read(
            queries.get("engine/views/read_property_names"), labels=self.labels, most=SAMPLE
        )
        name = missing[0]
        near = difflib.get_close_matches(name, row["names"], n=1)
        suggestion = f"; did you mean {near[0]}?" if near else ""
        return ConditionError(
            f"no node of graph {self.graph.name} has a property {name[:80]}{suggestion}"
        )


def _is_verified(known: Row, token: str | None, definition: str) -> bool:
    """Return whether nothing can have changed since a view was checked, and it was used lately."""
    unchanged = token is not None and known["token"] == token
    return unchanged and known["definition"] == definition and known["fresh"]
