"""Writes the rows of a statement as text: each value on one line, as prompts and pages show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgs_neo4j.text.prompt_text import clean_text
from pgs_neo4j.text.shown import one_line

LONGEST_TEXT = 1_000
"""Maximum characters of a text in a row; the rest is left out with a mark."""


def write_row(columns: Sequence[str], row: Sequence[object]) -> str:
    """Return a row as a line: ``name: Ann; papers: 3``."""
    return "; ".join(
        f"{one_line(column)}: {write_value(value)}"
        for column, value in zip(columns, row, strict=True)
    )


def write_value(value: object) -> str:
    """Return a plain value on one line. A node is written with its labels and properties."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return one_line(clean_text(value), LONGEST_TEXT)
        case float():
            return f"{value:.12g}"
        case {"labels": list(labels), "properties": dict(properties)}:
            return (
                f"({''.join(f':{one_line(str(one))}' for one in labels)} {write_value(properties)})"
            )
        case {"type": str(kind), "properties": dict(properties)}:
            return f"[:{one_line(kind)} {write_value(properties)}]"
        case Mapping():
            inside = (f"{one_line(str(key))}: {write_value(one)}" for key, one in value.items())
            return f"{{{', '.join(inside)}}}"
        case Sequence():
            return f"[{', '.join(map(write_value, value))}]"
    return str(value)
