"""The records of a server, as tests of its routes return them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from pgs_neo4j.engine import StoredGraph, StoredRun
from pgs_neo4j.engine.runs import DayCost
from pgs_neo4j.errors import UnknownGraphError
from pgs_neo4j.model import (
    Answer,
    Coverage,
    GraphMapping,
    Routing,
    Synthesis,
    Usage,
)

RUN = "r0123456789ab"
COVERED = Coverage(partitions_swept=1, partitions_total=2, nodes_read=3, nodes_total=4)
GRAPH = StoredGraph("papers", GraphMapping(labels=("Paper",)), "g1", 9, 1)
SPENT = DayCost(
    day="2026-01-01", graph="papers", session="ann / default", model="m", runs=1, calls=2,
    cached=0, input_tokens=3, output_tokens=4, cost=0.5, unpriced=0,
)  # fmt: skip
_ANSWER = Answer(
    question="Why?", graph="papers", session="s", run="r1", mode="full", model="m",
    synthesis=Synthesis(text="It is so."), sweeps=(), coverage=COVERED,
    own_coverage=COVERED, routing=Routing(routes=(), considered=1), cost=0.5, seconds={},
    usage=Usage(calls=2, input_tokens=30, output_tokens=4),
)  # fmt: skip


def answered(**changed: Any) -> Answer:
    """Return an answer with some fields changed."""
    return replace(_ANSWER, **changed)


def stored_run(session: str = "default", **properties: Any) -> StoredRun:
    """Return the run of this module with some properties changed."""
    return StoredRun(
        id=RUN, graph="papers", session=session, generation="g1", current=True, silent=False,
        properties=properties,
    )  # fmt: skip


def giving(value: Any) -> Callable[..., Awaitable[Any]]:
    """Return a method that returns a value, whatever its arguments."""

    async def give(*_: object, **__: object) -> Any:
        return value

    return give


class StoredGraphs:
    """Replaces ``pgs.graphs`` with two graphs, of which tenants see only ``papers``."""

    async def __call__(self) -> list[StoredGraph]:
        return [await self.get("papers"), await self.get("secret")]

    async def get(self, name: str | None = None) -> StoredGraph:
        if name not in ("papers", "secret", None):
            raise UnknownGraphError(f"there is no graph {name}; there are papers, secret")
        return replace(GRAPH, name=name or "papers")
