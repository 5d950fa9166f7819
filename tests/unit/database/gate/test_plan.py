"""Plans that are refused by their operators and details."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.database.gate.plan import check_plan
from pgs_neo4j.errors import GateError


def plan_of(operator: str, details: str = "") -> dict[str, Any]:
    """A plan whose second operator has these details."""
    child = {"operatorType": f"{operator}@neo4j", "args": {"Details": details}, "children": []}
    return {"operatorType": "ProduceResults@neo4j", "args": {}, "children": [child]}


@pytest.mark.parametrize(
    ("operator", "details"),
    [
        ("NodeByLabelScan", "n:Doc"),
        ("Expand(All)", "(d)-[r:CITES|ABOUT]->(x)"),
        ("VarLengthExpand(Pruning)", "(d)-[:`A]B`*1..3]-(x)"),
        ("RelationshipCountFromCountStore", "count( ()-[:CITES]->() ) AS c"),
        ("NodeCountFromCountStore", "count( (:Doc) ) AS c"),
        ("Filter", "getDegree((d)-[:CITES]->()) > 1"),
        ("Filter", "d.text = 'getDegree((d)--())'"),
        ("NodeCountFromCountStore", "count( (:Doc), (:Topic) ) AS c"),
        ("Projection", "(d)-[r*]-(b) AS p"),
        ("ProduceResults", "`COUNT { (d)--() }`, `shortestPath((a)-[*]-(b))`"),
        (
            "Projection",
            "[x IN xs | COLLECT { MATCH (d)-[`a`:CITES]-(y) RETURN y.u AS u }]",
        ),
        (
            "Filter",
            "all(u IN v WHERE EXISTS {   MATCH (`u`)-[a:B]->(c)-[d:E|F*1..2]->(b) WHERE c:G })",
        ),
        (
            "StatefulShortestPath(All)",
            "SHORTEST 1 ((`a`)-[`r`]-(b)){1, }\n  inlined predicates: b:T\n r:CITES:ABOUT",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["r", "rw", "w", "s"])
def test_a_plan_that_names_what_it_reads_passes(operator: str, details: str, kind: str) -> None:
    if kind == "r":
        check_plan(plan_of(operator, details), kind)
        return
    with pytest.raises(GateError, match="plain read"):
        check_plan(plan_of(operator, details), kind)


@pytest.mark.parametrize(
    ("operator", "details", "reason"),
    [
        ("AllNodesScan", "n", "no label"),
        ("PartitionedAllNodesScan", "n", "no label"),
        ("NodeCountFromCountStore", "count( () ) AS c", "no label"),
        ("DirectedAllRelationshipsScan", "(a)-[r]->(b)", "no type"),
        ("Expand(All)", "(d)-[anon_0]->(x)", "no type"),
        ("Expand(All)", "(d)-[`a:b`]->(x)", "no type"),
        ("OptionalExpand(Into)", "(d)<-[anon_0]-(x) WHERE x.y = ':'", "no type"),
        ("ShortestPath", "p = (a)-[anon_0*..5]-(b)", "no type"),
        ("RelationshipCountFromCountStore", "count( ()-[]->() ) AS c", "no type"),
        ("Filter", "getDegree((d)--()) > 1", "no type"),
        ("Projection", "getDegree((d)-->()) AS x", "no type"),
        ("NodeCountFromCountStore", "count( (:Doc), () ) AS c", "no label"),
        ("Expand(All)", "(d)--(x)", "no type"),
        ("Expand(All)", "(d)-->(x)", "no type"),
        (
            "StatefulShortestPath(All)",
            "SHORTEST 1 (d) ((a)--(c)-[r:CITES]-(b)){1, } (e)",
            "no type",
        ),
        (
            "StatefulShortestPath(All)",
            "SHORTEST 1 (d) ((`a`)-[`q`]-(`b`)){1, } (b)\n  inlined predicates: r:CITES",
            "no type",
        ),
        (
            "VarLengthExpand(All)",
            "p = (d)-[r*..2]->(b) WHERE all(a IN relationships(p) WHERE a:B)",
            "no type",
        ),
        ("Projection", "shortestPath((a)-[:CITES*..3]-(b)) AS p", "match the path"),
        ("Filter", "length(allShortestPaths((a)-[*..3]-(b))) > 1", "match the path"),
        (
            "Projection",
            "[x IN xs | COUNT { MATCH (n)   WHERE n.id IN [x] }] AS c",
            "compute it before",
        ),
        ("Projection", "[x IN xs | COUNT { MATCH (d)-[`a`]-(y) }] AS c", "compute it before"),
        (
            "Projection",
            "[x IN xs | COUNT {   MATCH (d)-[`a`:B]-(y), (z) }] AS c",
            "compute it before",
        ),
        (
            "Projection",
            "[x IN xs | COUNT { MATCH (d)-[a:B]-(c)   WHERE EXISTS { MATCH (c)-[e]-() } }]",
            "compute it before",
        ),
        (
            "Projection",
            "[x IN xs | COUNT { CALL { MATCH (n) RETURN n AS n } RETURN n AS n }] AS c",
            "compute it before",
        ),
        (
            "EagerAggregation",
            "count(CASE WHEN EXISTS { MATCH (d)-[a]-(b) } THEN 1 END)",
            "compute it before",
        ),
        ("NodeByElementIdSeek", "n WHERE elementId(n) = $id", "a label and a property"),
        ("LoadCSV", "row", "LoadCSV"),
        ("ProcedureCall", "db.labels() :: (label)", "ProcedureCall"),
        ("TransactionForeach", "", "TransactionForeach"),
        ("ANewOperator", "", "ANewOperator"),
    ],
)
def test_a_plan_that_reads_more_is_refused(operator: str, details: str, reason: str) -> None:
    with pytest.raises(GateError, match=reason):
        check_plan(plan_of(operator, details), "r")
