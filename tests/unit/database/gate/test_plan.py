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
