"""Walks several paths of a search at once, each within its time, and reports how each went."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from time import perf_counter

from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import PGSError
from pgs_neo4j.model import FoundThing, PathReport

PATH_S = 5.0
"""Seconds for one path. One that takes longer is left out, so that a search stays quick."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What a path found, and how: the scores of nodes by element id, best first.

    ``ways`` tell how relationships lead to some nodes. ``things`` are all that are not nodes.
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
    """Return what each path found; a path that fails or takes too long is reported as such."""
    walked = await together(*(_walk(name, path) for name, path in paths.items()))
    return dict(zip(paths, walked, strict=True))


async def _walk(name: str, path: Awaitable[Hits]) -> Walked:
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
