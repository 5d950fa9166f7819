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
    "StatefulShortestPath(All)", "StatefulShortestPath(All, Trail)",
    "StatefulShortestPath(Into, Trail)", "StatefulShortestPath(Into)", "ProjectEndpoints", "Apply",
    "SemiApply", "AntiSemiApply", "LetSemiApply", "LetAntiSemiApply", "SelectOrSemiApply",
    "SelectOrAntiSemiApply", "LetSelectOrSemiApply", "LetSelectOrAntiSemiApply", "RollUpApply",
    "ConditionalApply", "AntiConditionalApply", "CartesianProduct", "NodeHashJoin",
    "ValueHashJoin", "LeftOuterHashJoin", "RightOuterHashJoin", "TriadicSelection",
    "TriadicBuild", "TriadicFilter", "NodeCountFromCountStore",
    "RelationshipCountFromCountStore",
))  # fmt: skip
NODES = "a node has no label, so all nodes would be read; give it one, as in (n:Name)"
RELATIONSHIPS = "a relationship has no type, so all would be read; give it one, as in -[:TYPE]->"
HIDDEN = (
    "the server does not show how it reads a subquery in a list, in CASE, or in an aggregate; "
    "compute it before, as in WITH n, COUNT { (n)-[:TYPE]->() } AS c"
)
PATHS = (
    "the server does not show how it finds a path in an expression; match the path instead, as in "
    "MATCH p = shortestPath((a)-[:TYPE*..5]-(b))"
)
# Operators whose details begin with the pattern that they follow.
HOPS = ("Expand(", "OptionalExpand(", "VarLengthExpand(", "ShortestPath", "StatefulShortestPath(")
# "(a)-[r]->(b)", "(a)-[anon_0*..]-(b)", and "(a)--(b)" have no type; "(a)-[r:KNOWS|LIKES]->(b)" has
# two.
_HOP = re.compile(r"-\[([^\]]*)\]-|\)<?--")
_TYPED = re.compile(r"\w*:\w+(?:\|\w+)*(?:\*[\d.]*)?")
# Names that need no quotes have some in subqueries, and none elsewhere.
_SIMPLE = re.compile(r"`(\w+)`")
_QUOTED = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_DEGREE = re.compile(r"getDegree\(\(\w*\)<?-\[:\w+(?:\|\w+)*\]->?\(\)\)")
_COUNTED = {
    "NodeCountFromCountStore": (re.compile(r"\( *\)"), NODES),
    "RelationshipCountFromCountStore": (re.compile(r"-\[\]-|--"), RELATIONSHIPS),
}
_PATH = re.compile(r"shortestPaths?\(", re.IGNORECASE)
_SUBQUERY = re.compile(r"\b(?:EXISTS|COUNT|COLLECT)\s*\{")
# In the text of a subquery, MATCH and chains of nodes that are joined by typed relationships. Such
# a chain reads no more than its types name, whatever its nodes are.
_NODE = r"\(\w*\)"
_CHAIN = rf"(?:\w+ = )?{_NODE}(?:<?-\[\w*:\w+(?:\|\w+)*(?:\*[\d.]*)?\]->?{_NODE})+"
_MATCHED = re.compile(rf"\bMATCH {_CHAIN}(?:, {_CHAIN})*(?=\s*(?:WHERE|RETURN|WITH|\}}|$))")
_UNPROVEN = re.compile(r"\b(?:MATCH|CALL|LOAD|USE)\b|-\[|\)<?--|\bSHORTEST\b")


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
        _check_details(operator, _QUOTED.sub("x", _SIMPLE.sub(r"\1", details)))


def _check_details(operator: str, details: str) -> None:
    """Refuse an operator by its details, in which each quoted name is ``x``."""
    if operator.startswith(HOPS):
        _check_hops(operator, details)
    elif _PATH.search(details):
        raise GateError(PATHS)
    details = _DEGREE.sub("", details)
    if "getDegree" in details:  # of relationships without a type
        raise GateError(RELATIONSHIPS)
    if operator in _COUNTED and _COUNTED[operator][0].search(details):
        raise GateError(_COUNTED[operator][1])
    # The plan of a subquery is part of the tree, unless the subquery runs within an expression.
    # Then only its text is there.
    subquery = _SUBQUERY.search(details)
    if subquery and _UNPROVEN.search(_MATCHED.sub("", details[subquery.start() :])):
        raise GateError(HIDDEN)


def _check_hops(operator: str, details: str) -> None:
    """Refuse an operator that follows relationships of all types."""
    pattern, _, predicates = details.partition("\n")
    pattern = pattern.partition(" WHERE ")[0]
    hops = list(_HOP.finditer(pattern))
    for hop in hops:
        if hop[1] and _TYPED.fullmatch(hop[1]):
            continue
        # StatefulShortestPath has the types below its pattern, as in "r:KNOWS" or "r:KNOWS:LIKES".
        named = hop[1] and re.fullmatch(r"\w+", hop[1]) and operator.startswith("Stateful")
        if not named or not re.search(
            rf"^\s*(?:inlined predicates: )?{hop[1]}(?::\w+)+\s*$", predicates, re.MULTILINE
        ):
            raise GateError(RELATIONSHIPS)
    if not hops:
        raise GateError(RELATIONSHIPS)


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
