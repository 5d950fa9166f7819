"""Checks the plan of a statement: each operator must be on a closed list, and know what it reads.

A plan shows what a statement does, however it is written. It is the plan of the release at hand, so
an operator of a later release is refused until it is listed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pgs_neo4j.errors import GateError

# Those of Neo4j 5.26 and 2026.08 that only read, and read no more than labels and types name.
OPERATORS = frozenset((
    "ProduceResults", "Argument", "EmptyRow", "Optional", "Projection", "CacheProperties",
    "Filter", "Distinct", "Limit", "Skip", "OrderedDistinct", "OrderedAggregation",
    "EagerAggregation", "Aggregation", "Sort", "PartialSort", "Top", "Top1WithTies",
    "PartialTop", "Unwind", "Union", "OrderedUnion", "UnionNodeByLabelsScan", "Eager",
    "EmptyResult", "NodeByLabelScan", "IntersectionNodeByLabelsScan",
    "SubtractionNodeByLabelsScan", "PartitionedNodeByLabelScan",
    "PartitionedUnionNodeByLabelsScan", "PartitionedIntersectionNodeByLabelsScan",
    "PartitionedSubtractionNodeByLabelsScan", "NodeIndexScan", "NodeIndexSeek",
    "NodeUniqueIndexSeek", "NodeIndexSeekByRange", "NodeUniqueIndexSeekByRange",
    "NodeIndexContainsScan", "NodeIndexEndsWithScan", "MultiNodeIndexSeek",
    "PartitionedNodeIndexScan", "PartitionedNodeIndexSeek", "PartitionedNodeIndexSeekByRange",
    "DirectedRelationshipTypeScan", "UndirectedRelationshipTypeScan",
    "PartitionedDirectedRelationshipTypeScan", "PartitionedUndirectedRelationshipTypeScan",
    "DirectedUnionRelationshipTypesScan", "UndirectedUnionRelationshipTypesScan",
    "DirectedRelationshipIndexScan", "UndirectedRelationshipIndexScan",
    "DirectedRelationshipIndexSeek", "UndirectedRelationshipIndexSeek",
    "DirectedRelationshipIndexSeekByRange", "UndirectedRelationshipIndexSeekByRange",
    "DirectedRelationshipIndexContainsScan", "UndirectedRelationshipIndexContainsScan",
    "DirectedRelationshipIndexEndsWithScan", "UndirectedRelationshipIndexEndsWithScan",
    "Expand(All)", "Expand(Into)", "OptionalExpand(All)", "OptionalExpand(Into)",
    "VarLengthExpand(All)", "VarLengthExpand(Into)", "VarLengthExpand(Pruning)",
    "VarLengthExpand(Pruning,BFS)", "VarLengthExpand(Pruning,BFS,All)",
    "VarLengthExpand(Pruning,BFS,Into)", "Repeat(Trail)", "Repeat(Walk)", "Repeat(Acyclic)",
    "BidirectionalRepeat(Trail)", "BidirectionalRepeat(Walk)", "ShortestPath",
    "StatefulShortestPath(All)", "StatefulShortestPath(Into)", "ProjectEndpoints", "Apply",
    "SemiApply", "AntiSemiApply", "LetSemiApply", "LetAntiSemiApply", "SelectOrSemiApply",
    "SelectOrAntiSemiApply", "LetSelectOrSemiApply", "LetSelectOrAntiSemiApply", "RollUpApply",
    "ConditionalApply", "AntiConditionalApply", "CartesianProduct", "NodeHashJoin",
    "ValueHashJoin", "LeftOuterHashJoin", "RightOuterHashJoin", "TriadicSelection",
    "TriadicBuild", "TriadicFilter", "NodeCountFromCountStore",
    "RelationshipCountFromCountStore",
))  # fmt: skip
NODES = "a node has no label, so all nodes would be read; give it one, as in (n:Name)"
RELATIONSHIPS = "a relationship has no type, so all would be read; give it one, as in -[:TYPE]->"
# Operators whose details name the relationships that they follow.
HOPS = ("Expand(", "OptionalExpand(", "VarLengthExpand(", "ShortestPath", "StatefulShortestPath(")
# "(a)-[r]->(b)" and "(a)-[anon_0*..]-(b)" have no type; "(a)-[r:KNOWS|LIKES]->(b)" has two.
_HOP = re.compile(r"-\[((?:`(?:[^`]|``)*`|[^\]`])*)\]-")
_QUOTED = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_DEGREE = re.compile(r"getDegree\(\([^()]*\)<?--")
_COUNTED = {
    "NodeCountFromCountStore": re.compile(r"count\( \(:"),
    "RelationshipCountFromCountStore": re.compile(r"-\[:"),
}


def check_plan(plan: Mapping[str, Any], kind: str) -> None:
    """Refuse a plan unless all its operators only read what the statement names.

    ``plan`` is the tree that the driver returns, and ``kind`` its type: ``r`` for a plain read.
    Raises GateError.
    """
    if kind != "r":
        raise GateError("the statement does more than to read; only a plain read passes")
    for operator, details in _walk(plan):
        if operator not in OPERATORS:
            raise GateError(_explain_operator(operator))
        named = _QUOTED.sub("x", details)
        hops = _HOP.findall(named) if operator.startswith(HOPS) else [":"]
        if not hops or any(":" not in hop for hop in hops) or _DEGREE.search(named):
            raise GateError(RELATIONSHIPS)
        if operator in _COUNTED and not _COUNTED[operator].search(named):
            raise GateError(RELATIONSHIPS if "Relationship" in operator else NODES)


def _walk(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each operator with its details."""
    waiting = [plan]
    while waiting:
        one = waiting.pop()
        arguments = one.get("args") or {}
        yield str(one["operatorType"]).split("@")[0], str(arguments.get("Details", ""))
        waiting += one.get("children") or ()


def _explain_operator(operator: str) -> str:
    if "AllNodesScan" in operator:
        return NODES
    if "RelationshipsScan" in operator:
        return RELATIONSHIPS
    if "IdSeek" in operator:
        return "an id may be that of any node; find the node by a label and a property instead"
    return f"the server would use {operator}, which may do more than to read the graph"
