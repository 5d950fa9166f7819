"""Browsing a real graph: what is around a node, and nothing of another graph."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UnknownNodeError, UsageError
from pgs_neo4j.model import GraphMapping
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import engine_on_papers

# A secret of another graph beside a paper, and all kinds of properties.
NEIGHBORS = """
MATCH (p:Paper {doi: 'doi/0'})
SET p.title = null, p.score = 'heavy',
    p.born = date('2026-11-23'), p.place = point({x: 1, y: 2}), p.many = range(1, 40),
    p.few = [1, 2], p.vector = [0.5, 0.25], p.long = reduce(s = '', i IN range(1, 200) | s + 'long')
CREATE (p)-[:CITES]->(:Secret {title: 'CANARY', abstract: 'CANARY'}),
       (p)<-[:HIDES {fact: 'CANARY'}]-(:Secret:Paper {title: 'shared', doi: 'shared'}),
       (p)-[:CITES]->(p)
"""
ID = "MATCH (n) WHERE n.doi = $name OR n.title = $name RETURN elementId(n) AS id"


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    async with engine_on_papers(endpoint, db) as opened:
        await opened.graphs.add("secrets", GraphMapping(labels=("Secret",), text=("abstract",)))
        yield opened


async def id_of(db: Database, name: str) -> str:
    (row,) = await fetch(db, ID, name=name)
    return str(row["id"])


async def test_a_node_its_neighbors_its_findings_and_its_partition(pgs: PGS, db: Database) -> None:
    answer = await pgs.execute("What is missing?", graph="papers", session_id="s")
    paper = await id_of(db, "doi/0")
    node = await pgs.browse.node("papers", paper)
    assert (node.title, node.key, node.weight, node.rank) == ("Paper 0", "doi/0", 40.0, 0)
    assert node.text.startswith("Paper 0 studies catalysis of ammonia.")
    assert dict(node.properties) == {"doi": "doi/0", "score": 40.0, "topic": 0}
    assert node.partition is not None

    first = await pgs.browse.members("papers", node.partition, limit=25)
    rest = await pgs.browse.members("papers", node.partition, after=first.after, limit=25)
    ranks = [member.rank for member in (*first.members, *rest.members)]
    assert (ranks, first.size, rest.after) == (list(range(40)), 40, None)
    assert first.members[0].element_id == paper

    findings = await pgs.browse.findings_on_node("papers", paper)
    cited = [
        finding
        for sweep in answer.sweeps
        if sweep.report and sweep.partition == node.partition
        for finding in sweep.report.findings
        if any(one.element_id == paper for one in finding.citations)
    ]
    assert [one.text for one in findings] == [one.text for one in cited] != []
    assert {(one.run, one.session, one.partition) for one in findings} == {
        (answer.run, "s", node.partition)
    }
    for sessions in (["another"], []):
        assert await pgs.browse.findings_on_node("papers", paper, sessions=sessions) == ()
    assert await pgs.browse.findings_on_node("papers", paper, sessions=["s"]) == findings
    with pytest.raises(UsageError, match="no partition 99"):
        await pgs.browse.members("papers", 99)


async def test_properties_without_vectors_and_neighbors_without_other_graphs(
    pgs: PGS, db: Database
) -> None:
    await alter(db, NEIGHBORS)
    paper = await id_of(db, "doi/0")
    node = await pgs.browse.node("papers", paper)
    assert node.properties["born"] == "2026-11-23"
    assert node.properties["few"] == [1, 2]
    assert len(node.properties["long"]) == 501
    assert node.properties["place"] == "CartesianPoint(1.0, 2.0)"
    assert not {"many", "abstract", "title"} & set(node.properties)
    assert (node.title, node.weight) == (node.text, None)  # the first line of its text
    assert node.partition is None  # not partitioned yet

    page = await pgs.browse.neighbors("papers", paper, limit=3)
    assert {(one.type, one.outgoing): one.count for one in page.counts} == {
        ("CITES", True): 5, ("CITES", False): 3,  # with that to itself
    }  # fmt: skip
    seen = list(page.neighbors)
    while page.after is not None:
        page = await pgs.browse.neighbors("papers", paper, after=page.after, limit=3)
        assert page.counts == ()
        seen += page.neighbors
    assert len(seen) == 8
    assert page.complete
    assert "CANARY" not in str(seen)
    only = await pgs.browse.neighbors("papers", paper, relationship_type="HIDES")
    assert only.neighbors == ()

    # A node of another graph is as unknown as none.
    secret = await id_of(db, "CANARY")
    (stored,) = await fetch(db, "MATCH (g:PgsGraph) RETURN elementId(g) AS id LIMIT 1")
    assert (await pgs.browse.node("secrets", secret)).text == "CANARY"
    await pgs.graphs.add("all", GraphMapping(text=("abstract",)))
    for graph, element_id in (
        ("papers", secret), ("papers", "garbage" * 700), ("all", stored["id"])
    ):  # fmt: skip
        for reading in (
            pgs.browse.node(graph, element_id),
            pgs.browse.neighbors(graph, element_id),
            pgs.browse.neighbors(graph, element_id, after="7"),
            pgs.browse.findings_on_node(graph, element_id),
        ):
            with pytest.raises(UnknownNodeError) as raised:
                await reading
            assert "CANARY" not in str(raised.value)
            assert len(str(raised.value)) < 400
    with pytest.raises(UsageError, match="not partitioned yet"):
        await pgs.browse.members("papers", 1)
