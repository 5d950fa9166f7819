"""A survey of rows that a database answers: what is counted, sampled, and left out."""

from __future__ import annotations

import math
import shlex
from typing import Any

import pytest

from pgs_neo4j.cli.commands.graph import domain_commands
from pgs_neo4j.cli.commands.inspect import domain_lines
from pgs_neo4j.engine.survey import Domain, LabelSample, Proposal, Survey, sample
from pgs_neo4j.engine.survey.sample import BUCKETS, SAMPLE, SCAN, group_labels, survey
from pgs_neo4j.model import GraphMapping
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


COUNTS = {"Movie": 5, "Person": 9, "Product": 30, "Order": 2, "Note": 1, "": 4}


def test_labels_of_one_relationship_or_node_are_of_one_domain() -> None:
    together = [["Person", "Movie"], ["Order", "Product"], ["Note"], ["Person"], ["Unknown"]]
    types = {"ACTED_IN": ["Person", "Movie"], "OF": ["Order", "Product"]}
    assert group_labels(COUNTS, together, types) == (
        Domain(("Product", "Order"), ("OF",)),
        Domain(("Person", "Movie"), ("ACTED_IN",)),
        Domain(("Note",)),
    )
    joined = group_labels(COUNTS, [*together, ["Movie", "Product"], ["Note", "Order"]], types)
    assert [one.labels for one in joined] == [("Product", "Person", "Movie", "Order", "Note")]


def test_nodes_of_pgs_itself_connect_nothing() -> None:
    found = group_labels(COUNTS, [["PgsPartition", "Movie"], ["PgsPartition", "Note"]], {})
    assert all(len(one.labels) == 1 for one in found)


def test_each_domain_has_a_command_of_its_own_and_all_names_differ() -> None:
    domains = [Domain((label,)) for label in ("Movie", "movie", "电影", "Ship Line", "-")]
    commands = domain_commands(
        [(one, Proposal(GraphMapping(labels=one.labels), ())) for one in domains]
    )
    words = [shlex.split(command) for command in commands]
    assert [one[3] for one in words] == ["movie", "domain-2", "domain-3", "ship-line", "domain-5"]
    assert [one[4:6] for one in words][:4] == [["--label", one.labels[0]] for one in domains[:4]]
    samples = tuple(LabelSample(label=one.labels[0], count=2) for one in domains)
    lines = domain_lines(domains, Survey(nodes=10, relationships=0, labels=samples), commands)
    assert lines[1] == "5 domains that no relationship connects"
    assert lines[3:5] == ["  Movie (2 nodes)", commands[0]]
    assert lines[-1] == "All of them together:"
