"""A graph mapping as the command line that stores it. Pure."""

from __future__ import annotations

import shlex

from pgs_neo4j.model import GraphMapping


def add_command(name: str, mapping: GraphMapping) -> str:
    """Return a mapping's ``pgs graph add`` command, quoted for a POSIX shell."""
    options = (
        ("--label", mapping.labels),
        ("--relationship-type", mapping.relationship_types),
        ("--text", mapping.text),
        ("--title", (mapping.title,)),
        ("--key", (mapping.key,)),
        ("--weight", (mapping.weight,)),
        ("--relationship-weight", (mapping.relationship_weight,)),
        ("--embedding", (mapping.embedding,)),
    )
    words = ["pgs", "graph", "add", name]
    for option, values in options:
        for value in values:
            if value is not None:
                # Only this form accepts a name that begins with a dash.
                words += [f"{option}={value}"] if value.startswith("-") else [option, value]
    return shlex.join(words)
