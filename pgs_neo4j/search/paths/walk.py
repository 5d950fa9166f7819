"""Runs several paths of a search at once, each with a time limit, and reports on each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from time import perf_counter

from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import PGSError
from pgs_neo4j.model import FoundThing, PathReport

PATH_S = 5.0
"""Maximum seconds for one path. A slower path is left out, so that a search stays quick."""


@dataclass(frozen=True, slots=True)
class Hits:
    """The results of a path: ``scores`` of nodes by element id, best first, and its ``method``.

    ``ways`` shows the relationships that lead to a node. ``things`` are the results other than
    nodes.
    """

    method: str
    scores: Mapping[str, float] = field(default_factory=dict)
    ways: Mapping[str, str] = field(default_factory=dict)
    things: tuple[FoundThing, ...] = ()


@dataclass(frozen=True, slots=True)
class Walked:
    """The hits of one path, empty if it failed, and the report on it."""

    hits: Hits
    report: PathReport


async def walk(paths: Mapping[str, Awaitable[Hits]]) -> dict[str, Walked]:
    """Return the hits of each path; the report of a path says if it failed or took too long."""
    walked = await together(*(_walk_path(name, path) for name, path in paths.items()))
    return dict(zip(paths, walked, strict=True))


async def _walk_path(name: str, path: Awaitable[Hits]) -> Walked:
    began, error, hits = perf_counter(), "", Hits("")
    try:
        async with asyncio.timeout(PATH_S):
            hits = await path
    except PGSError as failure:
        error = str(failure)
    except TimeoutError:
        error = f"it took longer than {PATH_S:g} s"
    report = PathReport(
        name=name,
        method=hits.method,
        count=len(hits.things) or len(hits.scores),
        seconds=perf_counter() - began,
        error=error,
    )
    return Walked(hits, report)
