"""Commands to paste: those that store the domains of a graph, and the one that asks it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.graph import split_property
from pgs_neo4j.text.add_command import add_command
from pgs_neo4j.text.shell_words import command_line

if TYPE_CHECKING:
    from pgs_neo4j.engine import Domain, Proposal

LONGEST = 40
"""Characters of a name that is made of a label."""
FIRST_QUESTION = "What is this graph about, and what is missing?"


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
