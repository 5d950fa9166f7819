"""Words about a statement and its rows."""

from __future__ import annotations

from pgs_neo4j.export.statement import (
    LISTED,
    count_rows,
    describe_link,
    list_cells,
    list_notes,
)
from pgs_neo4j.model import LinkedValue, StatementRows, StatementTry

LINK = LinkedValue(label="Person", property="name", written="tom hank", linked="Tom Hanks")


def read(rows: int, **more: object) -> StatementRows:
    given: dict[str, object] = {"statement": "MATCH …", "columns": ("name", "n")} | more
    return StatementRows(rows=tuple((f"a{n}", n) for n in range(rows)), **given)  # type: ignore[arg-type]


def test_rows_are_counted_in_words() -> None:
    assert count_rows(read(0)) == "no rows"
    assert count_rows(read(1)) == "1 row"
    assert count_rows(read(200, truncated=True)) == "more than 200 rows"


def test_cells_have_aliases_and_are_limited() -> None:
    head, first, *_ = list_cells(read(2))
    assert (head, first) == (("row", "name", "n"), ("R1", "a0", "0"))
    assert len(list_cells(read(LISTED + 9))) == LISTED + 1


def test_notes_tell_writer_rows_changes_and_tries() -> None:
    tried = StatementTry(statement="MATCH (x) RETURN x", problem="a node has no label")
    notes = list(list_notes(read(LISTED + 1, writer="m", linked=(LINK,), tries=(tried,))))
    assert notes == [
        "m wrote this statement, and pgs let it pass as one plain read.",
        f"It returned {LISTED + 1} rows; the first {LISTED} are listed.",
        '"tom hank" was read as "Tom Hanks" (Person.name).',
        "An earlier statement could not be used: a node has no label",
    ]
    empty = list(list_notes(read(0, empty=("(p:Paper) matches 3 times",))))
    assert empty == ["It returned no rows.", "(p:Paper) matches 3 times."]


def test_a_link_is_described_on_one_line() -> None:
    assert describe_link(LINK) == '"tom hank" was read as "Tom Hanks" (Person.name)'
