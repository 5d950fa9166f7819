"""Writes commands to paste into a shell: quoted words, and ``pgs graph add`` for a mapping."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace as changed

from pgs_neo4j.model import GraphMapping


def add_command(name: str, mapping: GraphMapping, *, replace: bool = False) -> str:
    """Return a mapping's ``pgs graph add`` command, to paste into a shell.

    With ``replace``, the command replaces an existing definition of that name.
    """
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
        ("--scope-property", mapping.scope),
        ("--valid-from", (mapping.valid_from,)),
        ("--valid-to", (mapping.valid_to,)),
    )
    words = ["pgs", "graph", "add", name, *(["--replace"] if replace else [])]
    for option, values in options:
        for value in values:
            if value is not None:
                # Only this form accepts a name that begins with a dash.
                words += [f"{option}={value}"] if value.startswith("-") else [option, value]
    return command_line(words)


def text_command(name: str, mapping: GraphMapping) -> str:
    """Return the quoted command that makes a graph read a property and changes nothing else."""
    command = add_command(name, changed(mapping, text=("PROPERTY",)), replace=True)
    return f"'{command}'" if "'" not in command else command


def command_line(words: Iterable[str]) -> str:
    """Return words as one line to paste into a shell."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """Return a word quoted for bash, zsh, and other POSIX shells.

    A character that a terminal does not show is written as an escape, so that pasting keeps it.
    """
    if word.isprintable():
        return shlex.quote(word)
    return f"$'{''.join(map(_escape, word))}'"


def _escape(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogatepass"))


EXTEND = "the command that 'pgs graph show NAME' prints, with --replace and"
"""The beginning of advice when the name of the graph is unknown; an option follows."""
