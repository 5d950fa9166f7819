"""Nodes of a changed graph count by what their texts say now."""

from __future__ import annotations

from pgs_neo4j.model import Node
from pgs_neo4j.search.paths.words import score_present


def node(name: str, text: str) -> Node:
    return Node(rank=0, element_id=name, key=name, title="", text=text)


def test_a_node_that_the_index_lacks_counts_by_its_share_of_the_question() -> None:
    nodes = [
        node("old", "copper and tin"),
        node("both", "Copper; of zirconium."),
        node("one", "copper wire"),
        node("emptied", "nothing of it"),
        node("letters", "zirconiumless coppersmith"),
    ]
    scores = score_present("copper zirconium", nodes, {"old": 2.0, "emptied": 9.0, "gone": 50.0})
    assert set(list(scores)[:2]) == {"both", "old"}
    assert scores["old"] == scores["both"] == 2.0
    assert 0 < scores["one"] < 1.0, "the rare word weighs more"
    assert "emptied" not in scores
    assert "gone" not in scores
    assert "letters" not in scores


def test_a_node_counts_though_the_index_finds_nothing() -> None:
    assert score_present("zirconium", [node("new", "Zirconium")], {}) == {"new": 1.0}
    assert score_present("zirconium", [], {}) == {}
