"""The page of events is generated, current, and true of what the server sends."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, get_args

import pytest

from pgs_neo4j.events import Event
from pgs_neo4j.manual import read_page
from pgs_neo4j.web.jobs.served_jobs import SERVED_JOBS, ServedJobFailure
from pgs_neo4j.web.manual.event_table import events_page, plain_doc, table
from pgs_neo4j.web.manual.generate import EVENTS
from pgs_neo4j.web.runs.served_data import SERVED, ServedFailure


def test_the_page_is_up_to_date() -> None:
    assert EVENTS.read_text("utf-8") == events_page(), "python -m pgs_neo4j.web.manual.generate"
    assert read_page("events") == events_page()


@pytest.mark.parametrize("event", get_args(Event), ids=lambda event: event.kind)
def test_every_event_of_the_engine_is_there_with_its_fields(event: Any) -> None:
    section = events_page().split(f"### {event.kind}\n")[1].split("\n###")[0]
    assert f"`{event.__name__}`: " in section
    assert all(f"| `{name}` |" in section for name in (field.name for field in fields(event)))


@pytest.mark.parametrize("name", SERVED)
def test_every_event_of_the_server_is_there_with_its_fields(name: str) -> None:
    served = events_page().split("## Events over HTTP")[1].split("## Events of jobs")[0]
    section = served.split(f"### {name}\n")[1].split("\n###")[0]
    assert all(f"| `{field}` |" in section for field in SERVED[name].__annotations__)
    assert "Served" not in section


@pytest.mark.parametrize("name", SERVED_JOBS)
def test_every_event_of_a_job_is_there_with_its_fields(name: str) -> None:
    served = events_page().split("## Events of jobs")[1]
    section = served.split(f"### {name}\n")[1].split("\n###")[0]
    assert all(f"| `{field}` |" in section for field in SERVED_JOBS[name].__annotations__)
    assert "Served" not in section


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
