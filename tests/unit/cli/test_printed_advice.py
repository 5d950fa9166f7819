"""Every command that the product prints in quotes is one that its own parser takes."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

import pgs_neo4j
from pgs_neo4j.cli.app import app
from pgs_neo4j.pgs.partitioning.kept_settings import ChosenSettings, describe_ignored
from pgs_neo4j.pgs.sweeping.pack import repartition_command
from tests.unit.pgs.partitioning.conftest import generation_of_sizes

ROOT = Path(pgs_neo4j.__file__).parent
QUOTED = re.compile(r"'pgs ([a-z][^'\n]*)'")
HOLE = "\x00"
"""Stands for a value that is filled in when the text is printed."""
PLACEHOLDER = re.compile(r"[A-Z]+(\.\.\.)?")
VALUE = "7"  # a name, a path, and a number at once


def written_texts(tree: ast.AST) -> Iterator[str]:
    """Return each text of a module, with a hole for each value; a part of another is left out."""
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in ast.walk(tree):
        if id(node) in inside:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def commands() -> list[tuple[str, str]]:
    """Return each quoted command with the module that prints it."""
    found = {
        (path.relative_to(ROOT).as_posix(), re.sub(r"\s+", " ", words))
        for path in sorted(ROOT.rglob("*.py"))
        for text in written_texts(ast.parse(path.read_text(encoding="utf-8")))
        for words in QUOTED.findall(re.sub(r"\n\s*", " ", text))
    }
    return sorted(found)


def parse(words: list[str]) -> dict[str, Any]:
    """Return the parameters of a command line, parsed as ``pgs`` does, without running it.

    A group by itself, such as 'pgs runs', has none. Raises typer.BadParameter and others.
    """
    command: Any = get_command(app)
    context = command.context_class(command, info_name="pgs")
    while hasattr(command, "resolve_command") and words:
        name, command, words = command.resolve_command(context, words)
        if not hasattr(command, "resolve_command"):
            params: dict[str, Any] = command.make_context(name, words, parent=context).params
            return params
        context = command.context_class(command, info_name=name, parent=context)
    return {}


COMMANDS = commands()


def test_the_sources_print_commands() -> None:
    assert len(COMMANDS) > 60
    assert any("repartition" in words for _, words in COMMANDS)


@pytest.mark.parametrize(("module", "words"), COMMANDS, ids=lambda value: value.replace(HOLE, "?"))
def test_a_printed_command_is_one_that_the_parser_takes(module: str, words: str) -> None:
    if words.startswith("COMMAND"):
        return
    # A value that follows a letter at once brings its own space, as the flag of a release does.
    filled = shlex.split(re.sub(rf"(?<=\w){HOLE}", "", words).replace(HOLE, VALUE))
    filled = [VALUE if PLACEHOLDER.fullmatch(word) else word for word in filled]
    missing = ""
    try:
        parse(filled)
    except typer.BadParameter as error:
        if type(error).__name__ != "MissingParameter":
            raise
        missing = error.format_message()
    # A bare name refers to a command; one with options is to be pasted as it stands.
    assert not (missing and any(word.startswith("-") for word in filled)), (module, missing)


def test_the_advice_about_configured_settings_that_do_not_count_parses() -> None:
    standing = {"max_partition_tokens": 5000, "algorithm": "louvain"}
    current = generation_of_sizes(
        knobs={"max_partition_tokens": 6000, "algorithm": "leiden"},
        standing={"max_partition_tokens": [5000, 6000], "algorithm": ["louvain", "leiden"]},
    )
    told = describe_ignored(ChosenSettings(standing=standing), current)
    params = parse(shlex.split(told.split("'")[1])[1:])
    assert {name: params[name] for name in ("graph", *standing)} == {"graph": "papers", **standing}


def test_the_advice_about_long_partitions_names_its_graph_and_parses() -> None:
    params = parse(shlex.split(repartition_command("papers", 2000).strip("'"))[1:])
    named = {name: params[name] for name in ("graph", "force", "max_partition_tokens")}
    assert named == {"graph": "papers", "force": True, "max_partition_tokens": 2000}
