"""What others commit while a graph is partitioned: held by a generation, or noticed next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import GDS
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import DatabaseError, EmptyGraphError
from pgs_neo4j.model import Drift
from pgs_neo4j.pgs.partitioning import build, ensure, generation, membership, view
from tests.database import alter
from tests.graphs import count
from tests.leftovers import nothing_left, whole
from tests.thorough import tries

ADD_NODES = "UNWIND range(1, 3) AS i CREATE (:Paper {abstract: 'New at ' + $doi + ', ' + i})"
DELETE_NODE = "MATCH (p:Paper {doi: $doi}) DETACH DELETE p"
ADD_LINKS = (
    "MATCH (a:Paper {doi: $doi}) MATCH (b:Paper {topic: 3}) WITH a, b LIMIT 7 "
    "CREATE (a)-[:CITES {strength: 2.0}]->(b)"
)
SPOIL_WEIGHTS = "MATCH (:Paper {doi: $doi})-[r:CITES]->() SET r.strength = 'strong'"
DELETE_LINKS = "MATCH (:Paper {doi: $doi})-[r:CITES]-() DELETE r"
CHANGE_TEXT = "MATCH (p:Paper {doi: $doi}) SET p.abstract = 'Zeppelins.'"
LEAVE_VIEW = "MATCH (p:Paper {doi: $doi}) REMOVE p:Paper SET p:Retracted"
Change = Callable[[], Awaitable[object]]


# Between the scan and the projection, before the communities, the members, and the flip.
PROJECTING = (build, "refuse_if_too_large")
DETECTING = (build, "detect_communities")
WRITING = (membership, "write_members")
FLIPPING = (generation, "make_current")
MOMENTS = (PROJECTING, DETECTING, WRITING, FLIPPING)


def before(patch: pytest.MonkeyPatch, moment: tuple[ModuleType, str], change: Change) -> None:
    """Have something committed before a function does its work."""
    module, name = moment
    work = getattr(module, name)

    async def changed(*args: Any, **how: Any) -> Any:
        await change()
        return await work(*args, **how)

    patch.setattr(module, name, changed)


class Once:
    """A change that is committed the first time only."""

    def __init__(self, db: Database, text: str, **params: object) -> None:
        self.db, self.text, self.params, self.done = db, text, params, 0

    async def __call__(self) -> None:
        if not self.done:
            self.done = 1
            await alter(self.db, self.text, **self.params)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("first", "change", "noticed"),
    [
        (0, ADD_NODES, {"nodes_added": 3}),
        (1, ADD_LINKS, {"relationships_changed": 7}),
        (0, SPOIL_WEIGHTS, {"relationships_changed": 3}),
        (1, DELETE_LINKS, {"relationships_changed": 6}),
        (2, CHANGE_TEXT, {"texts_changed": 1}),
        (3, LEAVE_VIEW, {"nodes_removed": 1, "relationships_changed": 6}),
    ],
    ids=["nodes", "links", "weights", "fewer links", "text", "label"],
)
async def test_a_change_after_the_scan_is_never_taken_for_seen(
    pgs: PGS, db: Database, gds: GDS, first: int, change: str, noticed: dict[str, int]
) -> None:
    """At two moments, from ``first`` on: all changes together meet every one."""
    moments = (*MOMENTS[first:], *MOMENTS[:first])
    for number, moment in enumerate(moments[:3:2]):
        seen = await count(db, "(x:Paper)")
        once = Once(db, change, doi=f"doi/{7 + 10 * number}")
        with pytest.MonkeyPatch.context() as patch:
            before(patch, moment, once)
            made = await pgs.partitions.build("papers", force=True)
        assert once.done, moment
        assert made.generation.node_count == seen
        assert (await whole(db)).id == made.generation.id
        await nothing_left(db, gds)
        assert told(await pgs.partitions.check("papers")) == noticed, moment
        after = await pgs.partitions.build("papers")
        assert not after.reused
        assert after.generation.node_count == await count(db, "(x:Paper)")
        await up_to_date(pgs)


async def up_to_date(pgs: PGS) -> None:
    """Nothing was committed that the current generation does not hold."""
    drift = await pgs.partitions.check("papers", scan=False)
    assert drift is not None
    assert not drift.committed


def told(drift: Drift | None) -> dict[str, int]:
    """What a drift counts, of all that it counts, and only while something was committed."""
    assert drift is not None
    names = [name for name in Drift.__slots__ if name.endswith(("ed", "removed"))]
    counts = {name: getattr(drift, name) for name in names}
    assert counts.pop("committed") or not any(counts.values())
    return {name: found for name, found in counts.items() if found}


@pytest.mark.parametrize("moment", MOMENTS[tries(2, 0) :])
async def test_a_node_that_vanishes_before_the_flip_is_in_no_generation(
    pgs: PGS, db: Database, gds: GDS, monkeypatch: pytest.MonkeyPatch, moment: Any
) -> None:
    once = Once(db, DELETE_NODE, doi="doi/7")
    scans: list[int] = []
    scan = view.scan

    async def counted(*args: Any) -> view.View:
        scans.append(1)
        return await scan(*args)

    monkeypatch.setattr(view, "scan", counted)
    before(monkeypatch, moment, once)
    made = await pgs.partitions.build("papers")
    monkeypatch.undo()
    assert once.done
    await nothing_left(db, gds)
    late = moment is FLIPPING
    assert len(scans) == (1 if late else 2)
    drift = await pgs.partitions.check("papers")
    assert drift is not None
    assert drift.nodes_removed == (1 if late else 0)
    assert drift.changed == late
    after = await pgs.partitions.build("papers")
    assert after.reused == (not late)
    assert after.generation.node_count == 159
    assert made.generation.node_count == (160 if late else 159)
    assert sum((await whole(db)).sizes) == 159


@pytest.mark.parametrize("moment", MOMENTS[: tries(1, 3)])
async def test_a_graph_that_vanishes_altogether_keeps_what_there_was(
    pgs: PGS, db: Database, gds: GDS, monkeypatch: pytest.MonkeyPatch, moment: Any
) -> None:
    first = await pgs.partitions.build("papers")
    before(monkeypatch, moment, Once(db, "MATCH (p:Paper) DETACH DELETE p"))
    with pytest.raises(EmptyGraphError):
        await pgs.partitions.build("papers", force=True)
    monkeypatch.undo()
    current = await generation.read_current(db, "papers")
    assert current is not None
    assert current.id == first.generation.id
    await nothing_left(db, gds)
    with pytest.raises(EmptyGraphError):
        await pgs.partitions.check("papers")


@pytest.mark.thorough
@pytest.mark.parametrize("moment", MOMENTS[: tries(1, 3)])
async def test_a_seeded_build_of_a_graph_that_changes_leaves_no_seed(
    pgs: PGS, db: Database, gds: GDS, moment: Any
) -> None:
    await pgs.partitions.build("papers")
    for number, change in enumerate((ADD_NODES, DELETE_NODE, ADD_LINKS, SPOIL_WEIGHTS)):
        await alter(db, ADD_LINKS, doi=f"doi/{number}")
        once = Once(db, change, doi=f"doi/{10 + number}")
        with pytest.MonkeyPatch.context() as patch:
            before(patch, moment, once)
            made = await pgs.partitions.build("papers")
        assert once.done
        # Who is projected must be who was scanned, or the seeds cannot be told from the rest.
        assert made.generation.origin in ("seeded", "cold")
        assert (await whole(db)).id == made.generation.id
        await nothing_left(db, gds)
        drift = await pgs.partitions.check("papers")
        assert drift is not None
        assert drift.changed == (change is not DELETE_NODE)
        after = await pgs.partitions.build("papers")
        assert after.generation.node_count == await count(db, "(x:Paper)")
        await up_to_date(pgs)


@pytest.mark.thorough
async def test_a_graph_that_never_holds_still_is_given_up_in_one_sentence(
    pgs: PGS, db: Database, gds: GDS, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await pgs.partitions.build("papers")
    gone = 0

    async def delete() -> None:
        nonlocal gone
        gone += 1
        await alter(db, DELETE_NODE, doi=f"doi/{gone}")

    before(monkeypatch, WRITING, delete)
    with pytest.raises(DatabaseError, match=r"changed while it was partitioned, 3 times in a row"):
        await pgs.partitions.build("papers", force=True)
    monkeypatch.undo()
    assert gone == ensure.ATTEMPTS
    current = await generation.read_current(db, "papers")
    assert current is not None
    assert current.id == first.generation.id
    assert await count(db, "(x:PgsGeneration)") == 1
    current_ones = "(x:PgsPartition)-[:PGS_PART_OF]->()<-[:PGS_CURRENT]-(:PgsGraph)"
    assert await count(db, current_ones) == await count(db, "(x:PgsPartition)") == 4
    await nothing_left(db, gds)
    assert (await pgs.partitions.build("papers")).generation.node_count == 157
