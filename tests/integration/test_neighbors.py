"""What nodes add to their neighbors, on a real database."""

from __future__ import annotations

import re

import pytest

from pgs_neo4j.database import queries, schema
from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.neighbors import find_neighbors
from tests.database import alter, fetch

# A loop, parallels, another type, and what this package writes beside them.
GRAPH = """
CREATE (a:N {name: 'a'}), (b:N {name: 'b'}), (c:N {name: 'c'}), (d:N {name: 'd'}),
       (p:PgsPartition), (w:PgsWeight)
CREATE (a)-[:L {weight: 2.0}]->(b), (b)-[:L]->(b), (b)-[:L]->(c), (c)-[:L]->(b), (a)-[:M]->(c),
       (d)-[:M]->(a), (a)-[:PGS_IN]->(p), (b)-[:PGS_IN]->(p), (w)-[:PGS_ABOUT]->(b),
       (b)-[:PGS_ISOMORPHIC]->(c), (:PgsThesis)-[:PGS_CITES]->(b), (:PgsTriplet)-[:PGS_SOURCE]->(c),
       (:PgsAbsence)-[:PGS_SEEN_IN]->(b), (:PgsRun)-[:PGS_SHOWED]->(c)
WITH a UNWIND range(1, $more) AS i CREATE (a)<-[:L]-(:N {name: 'leaf ' + i})
"""
NODES = "MATCH (n:N) RETURN n.name AS name, elementId(n) AS id"
LINKS = """
MATCH (n:N)-[r]->(m:N) WHERE NOT type(r) STARTS WITH 'PGS_'
RETURN n.name AS source, m.name AS target, type(r) AS type, coalesce(r.weight, 1.0) AS weight
"""
# Types between nodes of this package, which are no nodes of a view.
INTERNAL = {
    "PGS_OF", "PGS_CURRENT", "PGS_PART_OF", "PGS_PARENT", "PGS_ADJACENT", "PGS_RAN_IN", "PGS_ON",
    "PGS_SWEPT", "PGS_READ", "PGS_FROM", "PGS_JOINS", "PGS_INDEXED_IN", "PGS_RATED",
}  # fmt: skip


@pytest.mark.parametrize("types", [(), ("L",), ("L", "M")])
@pytest.mark.parametrize("more", [3, 120])  # the server stores the degrees of dense nodes
async def test_a_neighbor_gets_its_share_by_both_degrees(
    db: Database, types: tuple[str, ...], more: int
) -> None:
    await alter(db, GRAPH, more=more)
    nodes = await fetch(db, NODES)
    links = await fetch(db, LINKS)
    ids = {row["name"]: row["id"] for row in nodes}
    links = [link for link in links if not types or link["type"] in types]
    degrees = dict.fromkeys(ids, 0)
    for link in links:
        for end in {link["source"], link["target"]}:  # a loop counts once
            degrees[end] += 1
    scores = {"a": 1.0, "b": 0.5}
    expected: dict[str, float] = {}
    for link in links:
        for near, far in ((link["source"], link["target"]), (link["target"], link["source"])):
            if near in scores and near != far:
                share = scores[near] * link["weight"] / (degrees[near] * degrees[far]) ** 0.5
                expected[far] = expected.get(far, 0.0) + share
    mapping = GraphMapping(labels=("N",), relationship_types=types, relationship_weight="weight")
    sources = {ids[name]: score for name, score in scores.items()}
    hits = await find_neighbors(db, mapping, sources, 500)
    assert hits.scores == pytest.approx({ids[name]: score for name, score in expected.items()})


def test_every_type_at_nodes_of_a_view_is_subtracted_from_degrees() -> None:
    listed = set(re.findall(r"PGS_\w+[A-Z]", queries.get("search/paths/find_neighbors").text))
    assert set(schema.TYPES) - INTERNAL <= listed
    subtracted = re.search(r"- COUNT {(.*)}", queries.get("pgs/checking/read_links").text)
    assert subtracted is not None
    many = {"PGS_ABOUT", "PGS_SOURCE", "PGS_TARGET", "PGS_ISOMORPHIC", "PGS_SHOWED", "PGS_SEEN"}
    assert set(re.findall(r"PGS_\w+", subtracted[1])) == many
