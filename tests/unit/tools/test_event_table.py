"""The page of events is true of what the server sends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import get_args

from pgs_neo4j.events import Event
from pgs_neo4j.web.jobs.served_jobs import ServedJobFailure
from pgs_neo4j.web.runs.served_data import ServedFailure
from tests.tools.event_table import SERVED, SERVED_JOBS, events_page, plain_doc, table


def test_every_event_is_there_with_its_fields() -> None:
    ours, rest = events_page().split("## Events over HTTP")
    served, jobs = rest.split("## Events of jobs")
    listed: list[tuple[str, str, Iterable[str]]] = [
        *((ours, kind.kind, [field.name for field in fields(kind)]) for kind in get_args(Event)),
        *((served, name, data.__annotations__) for name, data in SERVED.items()),
        *((jobs, name, data.__annotations__) for name, data in SERVED_JOBS.items()),
    ]
    for part, name, names in listed:
        section = part.split(f"### {name}\n")[1].split("\n###")[0]
        assert [one for one in names if f"| `{one}` |" not in section] == [], name
        assert part is ours or "Served" not in section
    for kind in get_args(Event):
        assert f"`{kind.__name__}`: " in ours.split(f"### {kind.kind}\n")[1].split("\n###")[0]


def test_a_failure_has_the_fields_of_every_error() -> None:
    assert set(ServedFailure.__annotations__) == {"run", "error", "code", "fix"}
    assert set(ServedJobFailure.__annotations__) == {"error", "code", "fix"}


def test_a_docstring_becomes_paragraphs() -> None:
    @dataclass
    class Said:
        """Says ``this``.

        Then
        more.
        """

    assert plain_doc(Said) == "Says `this`.\n\nThen more."


def test_a_table_without_rows_is_nothing() -> None:
    assert table(("a",), ()) == ""
    assert table(("a",), [("x | y",)]) == "\n| a |\n| --- |\n| x \\| y |\n"
