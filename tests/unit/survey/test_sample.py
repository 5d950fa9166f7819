"""A survey of rows that a database answers: what is counted, sampled, and left out."""

import math
from typing import Any

import pytest

from pgs_neo4j.errors import DatabaseAuthError, QueryError
from pgs_neo4j.survey import sample
from pgs_neo4j.survey.sample import BUCKETS, MAX_NAMES, SAMPLE, SCAN, survey

NODE_ROW = {
    "property": "title",
    "nodes": 90,
    "types": ["STRING NOT NULL"],
    "distinct_values": 88,
    "texts": 90,
    "mean_length": 12.5,
    "longest": 40,
    "prose": 3,
    "least": None,
    "greatest": None,
    "sizes": [],
}
RELATIONSHIP_ROW = {
    "property": "score",
    "relationships": 70,
    "types": ["INTEGER NOT NULL", "FLOAT NOT NULL"],
    "least": 1,
    "greatest": math.inf,
}


class Answers:
    """Rows by statement; an error in their place is raised."""

    def __init__(self, **rows: Any) -> None:
        self.rows = {
            "read_counts": [{"nodes": 0, "relationships": 0, "labels": {}, "types": {}}],
            "read_unique_properties": [],
            "sample_nodes": [],
            "sample_relationships": [],
        } | rows
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def read(self, query: Any, **params: Any) -> list[dict[str, Any]]:
        assert set(params) == set(query.params)
        name = query.name.removeprefix("survey/")
        self.asked.append((name, params))
        rows = self.rows[name]
        if isinstance(rows, Exception):
            raise rows
        return rows(params) if callable(rows) else rows

    def sampled(self, name: str) -> list[dict[str, Any]]:
        return [params for asked, params in self.asked if asked == name]


def counts(labels: dict[str, int], types: dict[str, int] | None = None, nodes: int | None = None):
    return [
        {
            "nodes": sum(labels.values()) if nodes is None else nodes,
            "relationships": sum((types or {}).values()),
            "labels": labels,
            "types": types or {},
        }
    ]


async def test_names_of_this_package_are_counted_apart_and_not_sampled():
    database = Answers(
        read_counts=counts({"Paper": 9, "PgsRun": 4, "Gone": 0}, {"CITES": 7, "PGS_ON": 2})
    )
    content = await survey(database)
    assert (content.nodes, content.relationships) == (9, 7)
    assert [item.label for item in content.labels] == ["Paper"]
    assert [item.type for item in content.relationship_types] == ["CITES"]
    assert content.our_labels == (("PgsRun", 4),)
    assert content.our_types == (("PGS_ON", 2),)
    assert [params["label"] for params in database.sampled("sample_nodes")] == ["Paper"]


async def test_nodes_without_a_label_are_a_label_of_their_own_unless_labels_are_named():
    database = Answers(read_counts=counts({"Paper": 9}, nodes=12))
    assert [(s.label, s.count) for s in (await survey(database)).labels] == [("Paper", 9), ("", 3)]
    assert [s.label for s in (await survey(database, labels=["Paper"])).labels] == ["Paper"]


async def test_labels_are_in_order_of_count_then_name():
    database = Answers(read_counts=counts({"B": 5, "A": 5, "C": 9}))
    assert [item.label for item in (await survey(database)).labels] == ["C", "A", "B"]


async def test_a_row_without_a_property_counts_the_sampled_nodes():
    database = Answers(
        read_counts=counts({"Paper": 500}),
        read_unique_properties=[{"label": "Paper", "property": "title"}],
        sample_nodes=[{"property": None, "nodes": 100}, NODE_ROW],
    )
    (paper,) = (await survey(database)).labels
    (title,) = paper.properties
    assert (paper.sampled, paper.share(title)) == (100, 0.9)
    assert title.types == ("STRING",)
    assert title.unique
    assert (title.distinct, title.mean_length, title.longest, title.prose) == (88, 12.5, 40, 3)


async def test_the_sizes_of_lists_are_in_order_of_frequency():
    row = NODE_ROW | {"sizes": [3, 8, 8, 5, 3, 8]}
    database = Answers(
        read_counts=counts({"Paper": 9}), sample_nodes=[{"property": None, "nodes": 9}, row]
    )
    (paper,) = (await survey(database)).labels
    assert paper.properties[0].sizes == ((8, 3), (3, 2), (5, 1))
    assert not paper.properties[0].unique


async def test_a_bound_that_is_not_finite_is_none():
    database = Answers(
        read_counts=counts({"Paper": 9}, {"CITES": 100}),
        sample_relationships=[{"property": None, "relationships": 80}, RELATIONSHIP_ROW],
    )
    (cites,) = (await survey(database)).relationship_types
    (score,) = cites.properties
    assert cites.sampled == 80
    assert (score.least, score.greatest) == (1.0, None)
    assert score.types == ("FLOAT", "INTEGER")


@pytest.mark.parametrize("error", [QueryError("no"), DatabaseAuthError("no")])
async def test_without_the_count_store_every_name_is_counted(error):
    database = Answers(
        read_counts=error,
        read_names=[{"nodes": SCAN + 5, "relationships": 3, "labels": ["A", "B"], "types": ["R"]}],
        count_label=lambda params: [{"count": SCAN if params["label"] == "A" else 5}],
        count_type=[{"count": 3}],
    )
    content = await survey(database)
    assert [(item.label, item.count) for item in content.labels] == [("A", SCAN), ("B", 5)]
    assert [(item.type, item.count) for item in content.relationship_types] == [("R", 3)]
    assert content.floor == SCAN


async def test_exact_counts_have_no_floor():
    database = Answers(
        read_counts=QueryError("no"),
        read_names=[{"nodes": 5, "relationships": 0, "labels": ["A"], "types": []}],
        count_label=[{"count": 5}],
    )
    assert (await survey(database)).floor is None


async def test_only_the_largest_labels_are_sampled():
    labels = {f"L{number:03}": 1000 - number for number in range(MAX_NAMES + 5)}
    database = Answers(read_counts=counts(labels))
    content = await survey(database)
    assert len(content.labels) == MAX_NAMES + 5
    assert len(database.sampled("sample_nodes")) == MAX_NAMES
    assert content.labels[-1].sampled == 0


@pytest.mark.parametrize(("count", "share"), [(10, 1.0), (2 * SAMPLE, 0.5), (10**9, SAMPLE / SCAN)])
async def test_a_sample_is_spread_over_a_label_or_the_first_of_it(count, share):
    database = Answers(read_counts=counts({"Paper": count}))
    await survey(database)
    (params,) = database.sampled("sample_nodes")
    assert params["threshold"] == math.ceil(BUCKETS * share)
    assert params["scan"] == SCAN
    assert params["limit"] == sample.MAX_PROPERTIES
