"""Commands to paste: a shell reads back exactly the words that were meant."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.cli.commands.graph import next_question
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.commands import add_command, command_line, text_command

BASH = shutil.which("bash") or ""
needs_bash = pytest.mark.skipif(not BASH, reason="there is no bash here")
HOSTILE = [
    "a b", "it's", 'say "x"', "$(touch owned)", "`id`", "a\\b", "!!", "*", "~", "\x1b[31m", "a\tb",
    "two\nlines", "zero\u200bwidth", "\u202ertl", "\u00a0", "é漢", "-dash", "a;b|c&d>e<f", "#", "",
]  # fmt: skip


def words_of(line: str) -> list[str]:
    """The words that bash makes of a line."""
    script = f"set -- {line}\nprintf '%s\\0' \"$@\""
    done = subprocess.run([BASH, "-c", script], capture_output=True, check=True, env={"LANG": "C"})
    return done.stdout.decode().split("\0")[:-1]


@needs_bash
def test_bash_reads_hostile_words_back() -> None:
    line = command_line(HOSTILE)
    assert line.isprintable()
    assert words_of(line) == HOSTILE


@needs_bash
@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")),
                min_size=1, max_size=5))  # fmt: skip
def test_bash_reads_any_words_back(words: list[str]) -> None:
    assert words_of(command_line(words)) == words


@needs_bash
def test_the_next_question_is_one_word() -> None:
    *_, ask = next_question("papers")
    assert words_of(ask)[:4] == ["pgs", "ask", "--graph", "papers"]
    assert len(words_of(ask)) == 5


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
