"""The files that are made from code are up to date, and name all that there is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from pgs_neo4j.events import Event
from pgs_neo4j.manual import read_page
from pgs_neo4j.web.app import describe_openapi
from pgs_neo4j.web.jobs import ServedJobFailure
from pgs_neo4j.web.runs.served_data import ServedFailure
from tests.tools.event_table import SERVED, SERVED_JOBS, events_page
from tests.tools.generate import generated

FILES = generated()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_generated_file_is_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == FILES[path], "python -m tests.tools.generate"


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


def test_every_request_is_there_with_its_parameters_and_fields() -> None:
    page, description = read_page("api"), describe_openapi()
    sections = {part.partition("\n")[0]: part for part in page.split("\n### ")[1:]}
    asked = {
        f"{method.upper()} {path}": told
        for path, methods in description["paths"].items()
        for method, told in methods.items()
    }
    assert set(sections) == set(asked)
    for name, told in asked.items():
        assert all(f"`{one['name']}`" in sections[name] for one in told.get("parameters", ()))
        assert len(sections[name].splitlines()[2]) > 10, f"{name} has no description"
    fields = description["components"]["schemas"]["Question"]["properties"]
    assert all(f"`{field}`" in sections["POST /api/runs"] for field in fields)
    assert "| `question`* |" in sections["POST /api/runs"]
