"""The figures of the benchmark on passes."""

from __future__ import annotations

import pytest

from pgs_neo4j.model import Node, Relationship
from tests.bench.passes import Material, _pack_all, table


def test_passes_of_two_sizes_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [
        Node(rank=i, element_id=f"e{i}", key=f"k{i}", title=f"T{i}", text="x" * 400)
        for i in range(20)
    ]
    links = [Relationship(i, (i + 2) % 20, "NEXT") for i in range(20)]
    sizes = {size: _pack_all([Material(nodes, links, 1000)], size) for size in (20_000, 6700)}
    assert "1 partitions into passes of 6,700 characters" in capsys.readouterr().err
    whole, divided = sizes.values()
    assert whole["passes"] < divided["passes"]
    assert (whole["divided"], divided["divided"]) == (0, 1)
    assert (whole["together"], divided["together"]) == (1.0, 1.0)
    run = {
        "graph": "rings", "partitions": 1, "tokens": 2400, "largest": 2400, "inside": 20,
        "relationships": 20, "read_s": 0.1, "sizes": sizes,
    }  # fmt: skip
    lines = table({"runs": [run]}).splitlines()
    assert lines[0].startswith("rings: 1 partitions, 2,400 tokens")
    assert lines[-1].split()[:3] == ["6,700", "characters", "2"]
    assert "100.0%" in lines[-1]
