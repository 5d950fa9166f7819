"""What the map shows beyond places, on a real database: analogies, flags, and drift."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from tests.analogies import SMALL, planted, skeletons
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import KNOBS, engine_on
from tests.serving import entry, served

FLAG = """
MATCH (:PgsRun {id: $run})-[:PGS_SWEPT]->(w:PgsSweep)-[:PGS_READ]->(p:PgsPartition {id: $source})
CREATE (:PgsFlag {id: $id, text: $id, place: 0, target: $target})-[:PGS_FROM]->(w)
"""


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    mapping = await planted(db)
    tokens = [
        *(entry(name, "notes") for name in ("ann", "bob")),
        entry("eve", "notes", role="reader"), entry("zoe", "x"),
    ]  # fmt: skip
    async with engine_on(endpoint, **KNOBS | SMALL, token=tokens) as opened:
        await opened.graphs.add("notes", mapping)
        await opened.partitions.build("notes")
        yield opened


@pytest.mark.thorough
async def test_analogies_link_partitions_and_those_of_no_making_do_not(
    pgs: PGS, db: Database
) -> None:
    assert await pgs.browse.analogies("notes") == ()
    pgs.sweep_llm = ScriptedLLM(skeletons)
    made = await pgs.analogies("notes")
    leftover = (
        "MATCH (a:Note {name: 'list 1'}), (b:Note {name: 'market 1'}) CREATE (a)-[:PGS_ISOMORPHIC "
        "{delta: 0.9, skeleton: 0.9, raw: 0.0, graph: 'notes', making: 'dead'}]->(b)"
    )
    await alter(db, leftover)
    pairs = await pgs.browse.analogies("notes")
    assert [one.links for one in pairs] == sorted((one.links for one in pairs), reverse=True)
    assert 0 < sum(one.links for one in pairs) <= made.links
    assert all(one.first < one.second for one in pairs)
    assert len({(one.first, one.second) for one in pairs}) == len(pairs)
    for one in pairs:
        numbers = {title.rpartition(" ")[2] for title in one.titles}
        assert len(numbers) == 1, "both nodes have the same mechanism"


@pytest.mark.thorough
async def test_flags_are_those_of_the_own_session_and_say_if_they_were_chased(
    pgs: PGS, db: Database
) -> None:
    ids = [part.id for part in await pgs.partitions("notes")]
    pgs.sweep_llm = pgs.synthesis_llm = ScriptedLLM(contract_reply)
    async with (
        served(pgs) as server,
        server.client("pgs_ann") as ann,
        server.client("pgs_bob") as bob,
        server.client("pgs_zoe") as zoe,
    ):
        answer = await pgs.execute(
            "fishery0word1 and market0word1", graph="notes", session_id="ann / default"
        )
        read = sorted(sweep.partition for sweep in answer.sweeps)
        unread = next(id_ for id_ in ids if id_ not in read)
        for name, target in (("chased", read[1]), ("open", unread), ("itself", read[0])):
            await alter(db, FLAG, run=answer.run, source=read[0], target=target, id=name)
        path = "/api/graphs/notes/flags"
        told = {one["text"]: one for one in (await ann.get(path)).json()}
        assert told.keys() == {"chased", "open"}
        assert told["chased"] == {
            "source": read[0], "target": read[1], "text": "chased", "run": answer.run,
            "chased": True,
        }  # fmt: skip
        assert (told["open"]["target"], told["open"]["chased"]) == (unread, False)
        assert (await bob.get(path)).json() == []
        for way in ("flags", "analogies", "drift"):
            assert (await zoe.get(f"/api/graphs/notes/{way}")).status_code == 404


async def test_drift_is_told_by_partition_and_nothing_is_written(pgs: PGS, db: Database) -> None:
    parts = {part.id: part.size for part in await pgs.partitions("notes")}
    still = await pgs.browse.drift("notes")
    assert {one.partition: one.nodes for one in still.partitions} == parts
    assert not any(one.fraction for one in still.partitions)
    before = await pgs.partitions.generation("notes")
    changes = (
        "MATCH (n:Note {name: 'list 1'}) DETACH DELETE n",
        "MATCH (n:Note {name: 'market 1'}) SET n.body = 'It is another text now.'",
        "CREATE (:Note {name: 'new', body: 'It came later.'})",
    )
    places = {}
    for name in ("list 1", "market 1"):
        home = "MATCH (:Note {name: $name})-[:PGS_IN]->(p:PgsPartition) RETURN p.id AS id"
        places[name] = (await fetch(db, home, name=name))[0]["id"]
    for change in changes:
        await alter(db, change)
    async with (
        served(pgs, read_only=True) as server,
        server.client("pgs_ann") as ann,
        server.client("pgs_eve") as eve,
    ):
        told = (await ann.get("/api/graphs/notes/drift")).json()
        assert (await eve.get("/api/graphs/notes/drift")).status_code == 403
    moved = {
        one["partition"]: (one["removed"], one["changed"])
        for one in told["partitions"]
        if one["removed"] or one["changed"]
    }
    assert moved == {places["list 1"]: (1, 0), places["market 1"]: (0, 1)}
    assert told["added"] == 1
    assert await pgs.partitions.generation("notes") == before
