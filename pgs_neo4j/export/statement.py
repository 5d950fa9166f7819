"""Words about a statement and its rows, for every form of an answer."""

from __future__ import annotations

from collections.abc import Iterator

from pgs_neo4j.model import LinkedValue, StatementRows
from pgs_neo4j.text.row_text import write_value
from pgs_neo4j.text.shown import counted, one_line

TITLE = "Statement and rows"
LISTED = 50
"""Rows that a page lists; the JSON of an answer has all of them."""
LONGEST_CELL = 200
LONGEST_LINK = 60


def count_rows(read: StatementRows) -> str:
    """Return how many rows a statement has, in words."""
    if read.truncated:
        return f"more than {counted(len(read.rows), 'row')}"
    return counted(len(read.rows), "row") if read.rows else "no rows"


def list_cells(read: StatementRows) -> list[tuple[str, ...]]:
    """Return the first rows as texts, each with its alias in front; the columns come first."""
    head = ("row", *(one_line(column, LONGEST_CELL) for column in read.columns))
    rows = [
        (f"R{number}", *(one_line(write_value(value), LONGEST_CELL) for value in row))
        for number, row in enumerate(read.rows[:LISTED], start=1)
    ]
    return [head, *rows]


def list_notes(read: StatementRows) -> Iterator[str]:
    """Yield what a reader must know of a statement: who wrote it, its rows, and its changes."""
    if read.writer:
        yield f"{read.writer} wrote this statement, and pgs let it pass as one plain read."
    listed = f"; the first {LISTED} are listed" if len(read.rows) > LISTED else ""
    yield f"It returned {count_rows(read)}{listed}."
    yield from (f"{part[:1].upper()}{part[1:]}." for part in read.empty)
    yield from (f"{describe_link(link)}." for link in read.linked)
    for one in read.tries:
        yield f"An earlier statement could not be used: {one_line(one.problem)}"


def describe_link(link: LinkedValue) -> str:
    """Return how a text of a statement was read: ``"tom hank" was read as "Tom Hanks" (…)``."""
    written, linked = one_line(link.written, LONGEST_LINK), one_line(link.linked, LONGEST_LINK)
    place = f"{one_line(link.label)}.{one_line(link.property)}"
    return f'"{written}" was read as "{linked}" ({place})'
