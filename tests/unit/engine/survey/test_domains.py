"""Groups of labels that nothing connects, each with a command to paste."""

from __future__ import annotations

import shlex

from pgs_neo4j.cli.commands.graph import domain_commands
from pgs_neo4j.cli.commands.inspect import apart
from pgs_neo4j.engine.survey import Domain, LabelSample, Proposal, Survey
from pgs_neo4j.engine.survey.domains import group_labels
from pgs_neo4j.model import GraphMapping

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
    lines = apart(domains, Survey(nodes=10, relationships=0, labels=samples), commands)
    assert lines[1] == "5 domains that no relationship connects"
    assert lines[3:5] == ["  Movie (2 nodes)", commands[0]]
    assert lines[-1] == "All of them together:"
