"""A survey of rows that a database answers: what is counted, sampled, and left out."""

import math
from typing import Any

import pytest

from pgs_neo4j.engine.survey import sample
from pgs_neo4j.engine.survey.sample import BUCKETS, SAMPLE, SCAN, survey
from tests.fakes.database import Answer, FakeDatabase, Row

NODE_ROW: Row = {
    "property": "title", "nodes": 90, "types": ["STRING NOT NULL"], "distinct_values": 88,
    "texts": 90, "mean_length": 12.5, "longest": 40, "prose": 3, "least": None, "greatest": None,
    "sizes": [3, 8, 8, 5, 3, 8], "examples": ["On Graphs", "2024-05-01"],
}  # fmt: skip


def database(labels: dict[str, int], nodes: int | None = None, **answers: Answer) -> Any:
    """A database with so many nodes of these labels, and no relationships."""
    counts = {"labels": [list(one) for one in labels.items()], "types": [], "relationships": 0}
    nodes = sum(labels.values()) if nodes is None else nodes
    return FakeDatabase(read_counts=[counts | {"nodes": nodes}], **answers)


async def test_labels_are_in_order_of_count_then_name_and_nodes_without_one_are_a_label():
    db = database({"B": 5, "A": 5, "C": 9}, nodes=22)
    found = [(item.label, item.count) for item in (await survey(db)).labels]
    assert found == [("C", 9), ("A", 5), ("B", 5), ("", 3)]
    assert [item.label for item in (await survey(db, labels=["A"])).labels] == ["A"]


async def test_the_sizes_of_lists_are_in_order_of_frequency():
    db = database(
        {"Paper": 500}, sample_nodes=[NODE_ROW | {"property": None, "nodes": 100}, NODE_ROW]
    )
    (paper,) = (await survey(db)).labels
    (title,) = paper.properties
    assert (paper.sampled, paper.share(title)) == (100, 0.9)
    assert (title.distinct, title.mean_length, title.longest, title.prose) == (88, 12.5, 40, 3)
    assert title.shapes == (("moment", 1), ("phrase", 1))
    assert title.sizes == ((8, 3), (3, 2), (5, 1))


@pytest.mark.parametrize(("count", "share"), [(10, 1.0), (2 * SAMPLE, 0.5), (10**9, SAMPLE / SCAN)])
async def test_a_sample_is_spread_over_a_label_or_the_first_of_it(count, share):
    db = database({"Paper": count})
    await survey(db)
    (params,) = db.params("sample_nodes")
    assert params["threshold"] == math.ceil(BUCKETS * share)
    assert params["scan"] == SCAN
    assert params["limit"] == sample.MAX_PROPERTIES
