"""Each statement says how it touches nodes of the user, and requires the scope of each it reads."""

from __future__ import annotations

import re

import pytest

from pgs_neo4j.database import queries

NAMES = queries.names()

NODE = re.compile(
    r"(?:MATCH|MERGE|CREATE|,|\{|\||-|->|<-|\[|shortestPath\()\s*"
    r"\(\s*(\w*)\s*(:[^(){}\s]*(?:\([^)]*\))?)?\s*(?:\{[^{}]*\})?\s*\)"
)
TEXT = re.compile(r"//.*|'(?:[^'\\]|\\.)*'|`")
OURS = re.compile(r"Pgs|LoadedNode")
OWN_NODES = {
    "pgs/partitioning/delete_seeds": "marks on partitions, by a label that is a parameter",
    "pgs/partitioning/set_seeds": "marks on partitions, by a label that is a parameter",
    "pgs/partitioning/delete_segments": "partitions of a segment",
    "search/count_segments": "partitions of a segment",
    "search/paths/read_unit_states": "units above a partition",
    "pgs/runs/create_runs": "the variables of a FOREACH",
    "pgs/runs/set_job_results": "the variables of a FOREACH",
    "search/create_fact_indexes": "a pattern of an index",
}
"""Statements whose nodes without a label are nodes of the package, or no nodes."""


def list_user_nodes(text: str) -> set[str]:
    """Return the variables of patterns for nodes that no pattern gives a label of the package."""
    bare = TEXT.sub("", text)
    found = [(match[1], match[2] or "") for match in NODE.finditer(bare)]
    ours = {name for name, label in found if OURS.search(label)}
    return {name for name, _ in found if name not in ours} - {""}


def is_limited(name: str, text: str) -> bool:
    """Return whether a node is required to be in the scope and the view, alone or in a list."""
    listed = re.search(rf"all\((\w+) IN \[[^\]]*\b{name}\b[^\]]*\]", text)
    names = [name, listed[1]] if listed else [name]
    seen = "({})-[:PGS_SEEN]->(:PgsView {{id: $view}})"
    return any(f"{one}[k] = $scope[k]" in text and seen.format(one) in text for one in names)


@pytest.mark.parametrize("name", NAMES)
def test_what_touches_nodes_of_the_user_says_how(name: str) -> None:
    query = queries.get(name)
    assert query.sees != "nothing" or name in OWN_NODES or not list_user_nodes(query.text)


@pytest.mark.parametrize("name", [name for name in NAMES if queries.get(name).sees == "nodes"])
def test_every_node_that_is_read_is_in_the_scope_and_in_the_view(name: str) -> None:
    text = queries.get(name).text
    nodes = list_user_nodes(text)
    assert [node for node in sorted(nodes) if not is_limited(node, text)] == []
    assert nodes or "YIELD node" in text


RELATIONSHIP = re.compile(r"-\[(\w*)((?::[^\]{*]*)?)[^\]]*\]-")
OWN_RELATIONSHIPS = {
    "engine/views/read_candidates", "search/read_distances", "search/paths/find_facts_by_vector",
}  # fmt: skip
"""Statements that require validity of relationships in another form, or of nodes only."""


def list_user_relationships(text: str) -> list[str]:
    """Return the variables of relationships that no pattern gives a type of the package."""
    found = [(match[1], match[2]) for match in RELATIONSHIP.finditer(TEXT.sub("", text))]
    ours = {name for name, kind in found if "PGS_" in kind}
    return [name for name, kind in found if "PGS_" not in kind and (not name or name not in ours)]


@pytest.mark.parametrize("name", [name for name in NAMES if queries.get(name).sees == "nodes"])
def test_every_relationship_that_is_read_is_valid_at_the_date_of_the_view(name: str) -> None:
    text = queries.get(name).text
    read = list_user_relationships(text)
    assert (queries.VALID in queries.get(name).params) == (bool(read) or name in OWN_RELATIONSHIPS)
    unchecked = [one for one in read if f"toStringOrNull({one}[v.name])" not in text]
    assert unchecked == [] or name in OWN_RELATIONSHIPS


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("MATCH (n)-[r]->(m:Paper) RETURN n", {"n", "m"}),
        ("MATCH (p:PgsPartition)<-[:PGS_IN]-(n) RETURN n", {"n"}),
        ("UNWIND $ids AS id MATCH (n) WHERE elementId(n) = id RETURN size(n.list)", {"n"}),
        ("MATCH (g:PgsGraph {name: $name}) RETURN g", set()),
        ("RETURN COUNT { (n)--(o) WHERE true } AS degree", {"n", "o"}),
        ("RETURN 'MATCH (n)' AS text", set()),
    ],
)
def test_patterns_are_recognized(text: str, nodes: set[str]) -> None:
    assert list_user_nodes(text) == nodes
