"""Commands to paste: the one that stores a graph, and the one that asks it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgs_neo4j.cli.pages.shell_words import command_line
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.graph import split_property

if TYPE_CHECKING:
    from pgs_neo4j.engine import Domain, Proposal

LONGEST = 40
"""Characters of a name that is made of a label."""
FIRST_QUESTION = "What is this graph about, and what is missing?"


def add_command(name: str, mapping: GraphMapping) -> str:
    """Return a mapping's ``pgs graph add`` command, to paste into a shell."""
    options = (
        ("--label", mapping.labels),
        ("--relationship-type", mapping.relationship_types),
        ("--text", mapping.text),
        ("--title", (*mapping.titles, mapping.title)),
        ("--key", (*mapping.keys, mapping.key)),
        ("--weight", (mapping.weight,)),
        ("--relationship-weight", (mapping.relationship_weight,)),
        ("--embedding", (mapping.embedding,)),
        ("--embedding-model", (mapping.embedding_model,)),
        ("--relationship-name", (mapping.relationship_name,)),
        ("--relationship-text", (mapping.relationship_text,)),
        ("--relationship-embedding", (mapping.relationship_embedding,)),
        ("--chunk-label", mapping.chunk_labels),
        ("--mention-type", mapping.mention_types),
    )
    words = ["pgs", "graph", "add", name]
    for option, values in options:
        for value in values:
            if value is not None:
                # Only this form accepts a name that begins with a dash.
                words += [f"{option}={value}"] if value.startswith("-") else [option, value]
    return command_line(words)


def domain_commands(domains: Sequence[tuple[Domain, Proposal]]) -> list[str]:
    """Return the ``pgs graph add`` command of each domain, with names that differ."""
    commands: list[str] = []
    taken: set[str] = set()
    for number, (domain, proposal) in enumerate(domains, start=1):
        plain = re.sub(r"[^a-z0-9]+", "-", domain.labels[0].lower()).strip("-")[:LONGEST]
        name = plain if plain and plain not in taken else f"domain-{number}"
        taken.add(name)
        commands.append(add_command(name, proposal.mapping))
    return commands


@dataclass(frozen=True, slots=True)
class Names:
    """Properties of single labels, and one of all labels."""

    labeled: tuple[str, ...]
    plain: str | None


def split_names(option: str, names: Sequence[str]) -> Names:
    """Tell LABEL.PROPERTY from a property of all labels. Raises UsageError for two of these."""
    plain = [name for name in names if len(split_property(name)) == 1]
    if len(plain) > 1:
        raise UsageError(
            f"{option} names {' and '.join(plain[:3])} for all labels; write LABEL.PROPERTY for "
            f"those of one label, as in {option} Product.{plain[-1]}"
        )
    labeled = tuple(name for name in names if name not in plain)
    return Names(labeled, plain[0] if plain else None)


def next_question(name: str) -> list[str]:
    """Return how to ask the graph that was just stored, after an empty line."""
    words = ["pgs", "ask", "--graph", name, FIRST_QUESTION]
    return ["", "To ask it a question:", f"  {command_line(words)}"]
