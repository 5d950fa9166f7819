"""The command that stores a graph keeps all of its mapping but what it is to change."""

from __future__ import annotations

import shlex

from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.add_command import add_command, text_command

MAPPING = GraphMapping(
    labels=("Paper",), relationship_types=("CITES",), text=("body",), title="title", weight="score"
)


def test_a_text_is_named_beside_all_else_that_the_graph_has() -> None:
    command = text_command("papers", MAPPING)
    assert command == (
        "'pgs graph add papers --replace --label Paper --relationship-type CITES --text PROPERTY "
        "--title title --weight score'"
    )
    assert command.strip("'").replace("PROPERTY", "body") == add_command(
        "papers", MAPPING, replace=True
    )


def test_a_name_that_a_shell_would_read_is_one_word_of_the_command() -> None:
    command = text_command("papers", GraphMapping(labels=("Research paper; ls",)))
    assert "Research paper; ls" in shlex.split(command)
    assert shlex.split(command)[:3] == ["pgs", "graph", "add"]
