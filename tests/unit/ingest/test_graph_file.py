"""Figures of a graph on its way into the database."""

import numpy as np

from pgs_neo4j.ingest.graph_file import FileNode, FileRelationship, GraphFile
from pgs_neo4j.model import GraphMapping


def graph(sizes: list[int | None], ends: list[tuple[int, int, str]]) -> GraphFile:
    nodes = tuple(
        FileNode(id=i, properties={}, embedding=None if size is None else np.zeros(size))
        for i, size in enumerate(sizes)
    )
    relationships = tuple(FileRelationship(*end) for end in ends)
    return GraphFile(nodes=nodes, relationships=relationships, mapping=GraphMapping())


def test_dimensions_are_the_distinct_lengths_in_order() -> None:
    assert graph([8, None, 3, 8], []).dimensions == (3, 8)
    assert graph([None], []).dimensions == ()


def test_self_loops_and_duplicates_are_counted() -> None:
    ends = [(0, 1, "A"), (0, 1, "A"), (0, 1, "B"), (1, 0, "A"), (2, 2, "A"), (0, 1, "A")]
    file = graph([None] * 3, ends)
    assert file.self_loops == 1
    assert file.duplicates == 2


def test_a_file_ignores_nothing_unless_it_says_so() -> None:
    assert graph([], []).ignored == {}
