"""What follows from analogies on a real database: sweeps, searches, degrees, and drift."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import GraphMapping, Prompt
from tests.analogies import SMALL, VIEW, linked, planted, skeletons, true_pairs
from tests.conftest import Endpoint
from tests.engines import KNOBS, engine_on
from tests.graphs import count


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    mapping = await planted(db)
    async with engine_on(endpoint, **KNOBS | SMALL) as opened:
        opened.sweep_llm = ScriptedLLM(skeletons)
        await opened.add_graph("notes", mapping)
        yield opened


async def test_links_of_an_unfinished_making_do_not_count(pgs: PGS, db: Database) -> None:
    await pgs.partition("notes")
    leftover = (
        "MATCH (a:Note {name: 'list 1'}), (b:Note {name: 'market 1'}) CREATE (a)-[:PGS_ISOMORPHIC "
        "{delta: 0.9, skeleton: 0.9, raw: 0.0, graph: 'notes', making: 'dead'}]->(b)"
    )
    await db.call(leftover, {}, "write")
    found = await pgs.search("list1word3", graph="notes", mode="structural", top_k=50)
    assert not [item for item in found.items if "analogies" in item.scores]
    await pgs.analogies("notes")
    assert await linked(db) == true_pairs()


async def test_the_graph_does_not_drift_by_its_analogies(pgs: PGS, db: Database) -> None:
    open_view = GraphMapping(text=("body",), title="name", key="name")
    await pgs.add_graph("open", open_view)
    for graph in ("notes", "open"):
        partitioning = await pgs.partition(graph)
        await pgs.analogies("notes")
        drift = await pgs.check(graph)
        assert drift is not None
        assert not drift.changed
        again = await pgs.partition(graph, force=False)
        assert again.generation.id == partitioning.generation.id
        await pgs.partition(graph, force=True)
    assert (await pgs.generation("open")).relationship_count == await count(db, "()-[x:NEAR]->()")


async def test_degrees_do_not_count_analogies(pgs: PGS, db: Database) -> None:
    partitioning = await pgs.partition("notes")
    _, rows = await db.call(
        "MATCH (p:PgsPartition {level: 0})<-[m:PGS_IN]-(n:Note) WHERE n.topic <> 'list' "
        "RETURN p.id AS id, collect(m.rank) AS ranks",
        {},
        "read",
    )
    cited = {row["id"]: row["ranks"] for row in rows}
    given = {"cited": {str(part): ranks for part, ranks in cited.items()}, "types": [], "degree": 6}
    query = queries.get("checking/read_links")
    params = {"generation": partitioning.generation.id, "most": 1_000, **given}
    before = await db.read(query, **params)
    await pgs.analogies("notes")
    assert await db.read(query, **params) == before


async def test_sweeps_are_told_and_may_flag(pgs: PGS, db: Database) -> None:
    def flagging(prompt: Prompt) -> str:
        if prompt.task == "skeletons":
            return skeletons(prompt)
        alike = re.search(r'(n\d+) may work like (P\d+) "([^"]+)"', prompt.user)
        flag = f"## Outbound Flags\n- {alike[2]}: compare [{alike[1]}]" if alike else ""
        return contract_reply(prompt).replace("## Outbound Flags", flag or "## Outbound Flags")

    model = pgs.sweep_llm = ScriptedLLM(flagging)
    await pgs.partition("notes")
    silent = await pgs.execute("What fails?", graph="notes", full_sweep=True)
    before = {prompt.partition: prompt for prompt in model.prompts}
    assert not [prompt for prompt in before.values() if "analog" in prompt.user + prompt.system]
    await pgs.analogies("notes")
    model.prompts.clear()
    told = await pgs.execute("What fails?", graph="notes", full_sweep=True, session_id="told")
    named = {prompt.partition: prompt for prompt in model.prompts}
    assert named, "prompts with analogies are asked again"
    for prompt in named.values():
        block = re.search(r"<analogies>\n.*\n</analogies>\n\n", prompt.user, re.DOTALL)
        assert block is not None
        assert prompt.user.replace(block[0], "") == before[prompt.partition].user
        assert 1 <= len(re.findall(r"^n\d+ may work like P", block[0], re.MULTILINE)) <= 10
    assert silent.generation == told.generation
    unlike = {f.text for s in silent.sweeps if s.report for f in s.report.flags}
    flags = [f for s in told.sweeps if s.report for f in s.report.flags if f.text not in unlike]
    assert flags
    assert all(flag.target is not None for flag in flags)


async def test_a_structural_search_shows_analogies(pgs: PGS, db: Database) -> None:
    plain = await pgs.search("market3word5", graph="notes", mode="structural", top_k=50)
    (path,) = [path for path in plain.paths if path.name == "analogies"]
    assert (path.count, path.method) == (0, "no analogies were made; 'pgs analogies' makes them")
    await pgs.analogies("notes")
    found = await pgs.search("market3word5", graph="notes", mode="structural", top_k=50)
    by_key = {item.key: item for item in found.items}
    assert found.items[0].key == "market 3"
    for domain in ("fishery", "immune", "railway"):
        item = by_key[f"{domain} 3"]
        assert item.scores["analogies"] > 0
        assert re.fullmatch(rf"market 3 ~~\[analogy, delta 0\.\d\d\]~~ {domain} 3", item.way)
    mapped = await pgs.search("market3word5", graph=VIEW, mode="structural")
    assert [path.count for path in mapped.paths if path.name == "analogies"] == [0]
    local = await pgs.search("market3word5", graph="notes", mode="local", top_k=50)
    assert "railway 3" not in {item.key for item in local.items}
