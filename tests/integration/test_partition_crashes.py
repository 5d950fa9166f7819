"""A build that dies, or loses or repeats an acknowledgement, at each of its database writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import GDS
from pgs_neo4j.database.queries import Row
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import DatabaseUnavailableError
from pgs_neo4j.pgs.partitioning import result
from pgs_neo4j.pgs.partitioning.result import Partitioning
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import engine_on
from tests.graphs import checksum, papers
from tests.leftovers import expire, nothing_left, only, whole
from tests.write_faults import WriteFaults, faulty_writes

pytestmark = pytest.mark.nightly
KEEP = 2
MOST_WRITES = 40
PATIENCE_S = 300.0
JOIN = """
MATCH (p:Paper) WITH count(p) AS papers
MATCH (a:Paper {doi: 'doi/' + (papers % 30 * 10)})
MATCH (b:Paper {doi: 'doi/' + ((papers + 1) % 30 * 10)})
CREATE (:Paper {abstract: 'One more.'})-[:CITES {strength: 1.0}]->(a)-[:CITES {strength: 1.0}]->(b)
"""
TELL = "MATCH (a:Paper {doi: 'doi/3'}) SET a.abstract = a.abstract + ' And more.'"
CHANGES = {"cold": None, "seeded": JOIN, "refreshed": TELL}
ALWAYS = {
    "database/merge_leases",
    "pgs/partitioning/create_generations",
    "pgs/partitioning/write_partitions",
    "pgs/partitioning/write_adjacents",
    "pgs/partitioning/write_members",
    "pgs/partitioning/write_parents",
    "pgs/partitioning/set_current",
    "pgs/partitioning/mark_disposable",
    "pgs/partitioning/delete_members",
    "pgs/partitioning/delete_generations",
    "database/set_free_leases",
}
WRITES = {
    "cold": ALWAYS,
    "seeded": ALWAYS
    | {
        "pgs/partitioning/set_seeds",
        "pgs/partitioning/delete_seeds",
        "pgs/partitioning/write_shared",
    },
    "refreshed": ALWAYS | {"pgs/partitioning/write_shared"},
}
HOWS = ("dead", "once", "lost")
INVENTORY = """
CALL () {
  MATCH (n) WHERE any(label IN labels(n) WHERE label STARTS WITH 'Pgs')
  UNWIND labels(n) AS name RETURN name, count(*) AS found
  UNION ALL
  MATCH ()-[r]->() WHERE type(r) STARTS WITH 'PGS_' RETURN type(r) AS name, count(*) AS found
}
RETURN name, found ORDER BY name
"""


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine on many small topics of papers, so that there are levels above, and a pool."""
    mapping = await papers(db, topics=30, size=10, isolates=3)
    async with engine_on(
        endpoint,
        min_community_size=4,
        target_partition_max=12,
        embedder="none",
        keep_generations=KEEP,
    ) as opened:
        await opened.graphs.add("papers", mapping)
        made = await opened.partitions.build("papers")
        assert made.generation.levels
        yield opened


@pytest.fixture
def faults(pgs: PGS, monkeypatch: pytest.MonkeyPatch) -> WriteFaults:
    """What goes wrong with the writes, nothing to begin with."""
    return faulty_writes(monkeypatch)


@dataclass(frozen=True, slots=True)
class Builds:
    """Builds of one way, again and again."""

    pgs: PGS
    db: Database
    way: str

    async def build(self) -> Partitioning:
        """Make the next build, which is one of that way."""
        made = await self.pgs.partitions.build("papers", force=self.way == "cold")
        assert made.reused or made.generation.origin == self.way
        return made

    async def change(self) -> None:
        """Change what makes the next build one of that way."""
        if text := CHANGES[self.way]:
            await alter(self.db, text)


async def prepared(pgs: PGS, db: Database, way: str) -> Builds:
    """Builds of one way, after enough of them that old generations go."""
    found = Builds(pgs, db, way)
    for _ in range(KEEP):
        await found.change()
        await found.build()
    await only(db, KEEP)
    return found


async def inventory(db: Database) -> list[Row]:
    """Count what pgs wrote, by label and type."""
    return await fetch(db, INVENTORY)


@pytest.mark.parametrize("way", CHANGES)
async def test_a_crash_at_any_write_leaves_old_or_new(
    pgs: PGS, faults: WriteFaults, db: Database, gds: GDS, way: str
) -> None:
    """The faults take turns, and begin with another one in each way of building."""
    first = list(CHANGES).index(way)
    hows = cycle(HOWS[first:] + HOWS[:first])
    builds = await prepared(pgs, db, way)
    failed: list[str] = []
    async with asyncio.timeout(PATIENCE_S):
        for at, how in zip(range(1, MOST_WRITES), hows, strict=False):
            await builds.change()
            before, users = await whole(db), await checksum(db)
            faults.arm(how, at)
            with suppress(DatabaseUnavailableError):
                await builds.build()
            fired, done, seen = faults.fired, faults.done, faults.seen
            faults.arm("", 0)
            failed += seen[at - 1 : at]
            after = await whole(db)
            assert (after.id != before.id) == ("pgs/partitioning/set_current" in done)
            read = await result.read_current(db, "papers")
            assert read is not None
            assert read.generation.id == after.id
            assert tuple(part.size for part in read.partitions) == after.sizes
            await expire(db)
            made = await builds.pgs.partitions.build("papers", force=True)
            assert (await whole(db)).id == made.generation.id
            await nothing_left(db, gds)
            await only(db, KEEP)
            assert await checksum(db) == users
            if not fired:
                break
        else:
            raise AssertionError("the build never came to its end")
    assert set(failed) >= WRITES[way]


@pytest.mark.parametrize("way", ["seeded", "refreshed"])
async def test_a_write_that_is_repeated_does_no_harm(
    pgs: PGS, faults: WriteFaults, db: Database, gds: GDS, way: str
) -> None:
    """The driver repeats what was committed when its acknowledgement was lost."""
    builds = await prepared(pgs, db, way)
    await builds.change()
    await builds.build()
    usual = await inventory(db)
    repeated: list[str] = []
    async with asyncio.timeout(PATIENCE_S):
        for at in range(1, MOST_WRITES):
            await builds.change()
            faults.arm("twice", at)
            made = await builds.build()
            assert (await whole(db)).id == made.generation.id
            await nothing_left(db, gds)
            await only(db, KEEP)
            if builds.way != "seeded":  # there, what is adjacent changes with the graph
                assert await inventory(db) == usual, faults.seen[at - 1 : at]
            repeated += faults.seen[at - 1 : at]
            if not faults.fired:
                break
        else:
            raise AssertionError("the build never came to its end")
        # Builds differ in their number of writes, so places may have missed one.
        for name in sorted(WRITES[way] - set(repeated)):
            for _ in range(KEEP + 1):
                await builds.change()
                faults.arm("twice", 1, name)
                made = await builds.build()
                assert (await whole(db)).id == made.generation.id
                await nothing_left(db, gds)
                repeated += faults.seen[:1]
    assert set(repeated) >= WRITES[way]
