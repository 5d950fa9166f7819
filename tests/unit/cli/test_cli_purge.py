"""What a purge leaves, and what removes it."""

from __future__ import annotations

from pgs_neo4j.cli.commands.purge import kept_lines
from pgs_neo4j.engine.purge import KeptGraph, Purged


def test_what_stays_is_told_with_what_removes_it() -> None:
    kept = (KeptGraph("notes", 2_700, 12), KeptGraph("brain", 5, 0))
    lines = kept_lines(Purged(1, 1, 1, 1, kept, ("ingested_embedded",), ("loaded_node_key",)))
    assert lines == [
        "graph notes stays: 2,700 nodes of 12 documents; "
        "'pgs documents delete --all --graph notes' deletes them",
        "graph brain stays: 5 nodes of a loaded file; in Cypher, delete the nodes with label "
        'LoadedNode and graph "brain"',
        "1 index and 1 constraint of such graphs stay; in Cypher, drop ingested_embedded, "
        "loaded_node_key",
    ]
    assert kept_lines(Purged(1, 1, 1, 1)) == []
