"""Tells the rows of a statement as text, if no model is asked about them."""

from __future__ import annotations

from collections.abc import Iterator

from pgs_neo4j.export.statement import count_rows
from pgs_neo4j.model import StatementRows
from pgs_neo4j.text.row_text import write_row
from pgs_neo4j.text.shown import counted

LISTED = 20
"""Rows that a text lists if no model writes it."""


def describe_rows(read: StatementRows) -> str:
    """Return a text about the rows of a statement, which cites each row that it lists."""
    listed = read.rows[:LISTED]
    lines = [
        f"- {write_row(read.columns, row)} [R{number}]" for number, row in enumerate(listed, 1)
    ]
    left = len(read.rows) - len(listed)
    more = [f"- and {counted(left, 'more row')}"] if left else []
    return "\n".join((f"The statement returned {count_rows(read)}:", "", *lines, *more))


def describe_empty(read: StatementRows | None, reason: str) -> str:
    """Return a text about a question without rows: which part matches nothing, or what failed."""
    if read is None:
        return f"No statement could be read for this question: {reason}."
    return "\n".join(("The statement returned no rows.", *_list_empty(read)))


def _list_empty(read: StatementRows) -> Iterator[str]:
    if read.empty:
        yield ""
        yield from (f"- {part}" for part in read.empty)
