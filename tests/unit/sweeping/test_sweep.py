"""Which pass of a partition is read first."""

from __future__ import annotations

from pgs_neo4j.model import Node, Relationship
from pgs_neo4j.sweeping.pack import pack
from pgs_neo4j.sweeping.passes import order_passes


def test_passes_with_the_best_matches_are_read_first() -> None:
    nodes = [
        Node(rank=i, element_id="e", key="k", title=f"T{i}", text="x" * 300) for i in range(40)
    ]
    links = [Relationship(i, (i + 4) % 40, "NEXT") for i in range(40)]
    passes = pack(nodes, links, max_characters=5000, max_tokens=None, reserved=500)
    held = [{piece.rank for piece in item.pieces} for item in passes]
    assert len(passes) == 4
    assert order_passes(passes, ()) == list(passes)
    second, fourth = min(held[1]), max(held[3])
    ordered = order_passes(passes, (fourth, second, max(held[1])))
    assert [item.number for item in ordered] == [4, 2, 1, 3]
    assert order_passes(passes, (99,)) == list(passes)
