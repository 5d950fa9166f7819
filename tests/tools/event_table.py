"""The page of events, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from inspect import getdoc
from typing import get_args

from pgs_neo4j.events import Event
from pgs_neo4j.web import jobs as board
from pgs_neo4j.web.runs import served_data

SERVED: dict[str, type] = {
    "accepted": served_data.ServedAccepted,
    "queued": served_data.ServedQueued,
    "snapshot": served_data.ServedSnapshot,
    "contexts": served_data.ServedContexts,
    "routed": served_data.ServedRouting,
    "sweep_finished": served_data.ServedSweep,
    "call_retried": served_data.ServedRetry,
    "calls_held": served_data.ServedHold,
    "usage": served_data.ServedUsage,
    "answered": served_data.ServedAnswer,
    "failed": served_data.ServedFailure,
    "cancelled": served_data.ServedEnd,
    "stopping": served_data.ServedStop,
}
"""The events of the server, by their names."""
SERVED_JOBS: dict[str, type] = {
    "accepted": board.ServedJob,
    "ended": board.ServedJobEnd,
    "failed": board.ServedJobFailure,
    "cancelled": board.ServedJobCancelled,
    "stopping": board.ServedJobStop,
}
"""The events of jobs, by their names. Each also has the fields of ``accepted``."""

INTRODUCTION = """\
# Events

A run reports its progress as events. Their names never change. In Python, `on_event` receives them;
see [Python](python.md). Over HTTP, `GET /api/runs/{run}/events` streams them; see
[the server](server.md#events).

## Events of the engine

Types such as `Sweep` are in `pgs_neo4j.model`. Over HTTP, all of them become JSON.
"""
OVER_HTTP = """
## Events over HTTP

The server sends the events of the engine. Those that are listed here have other fields over HTTP
than in Python. The others in this list are events of the server itself. Pieces of text that arrive
within 50 ms are joined.
"""
OF_JOBS = """
## Events of jobs

`GET /api/jobs/live/{live}/events` streams the progress of a job of the server: the events of the
engine, and these events. Each also has the fields of `accepted`.
"""
_CODE = re.compile(r"``(.+?)``")


def events_page() -> str:
    """Return all events with their fields."""
    engine = (_section(event.kind, event, event.__name__) for event in get_args(Event))
    served = (_section(name, data) for name, data in SERVED.items())
    jobs = (_section(name, data) for name, data in SERVED_JOBS.items())
    return "".join((INTRODUCTION, *engine, OVER_HTTP, *served, OF_JOBS, *jobs))


def plain_doc(documented: object) -> str:
    """Return a docstring as Markdown, with a paragraph on one line."""
    paragraphs = (getdoc(documented) or "").split("\n\n")
    return "\n\n".join(map(plain_paragraph, paragraphs))


def plain_paragraph(text: str) -> str:
    """Return a paragraph of a docstring as Markdown, on one line."""
    return _CODE.sub(r"`\1`", " ".join(text.split()))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table; without rows, nothing."""
    body = "".join(_line(row) for row in rows)
    titles = tuple(head)
    return f"\n{_line(titles)}{_line(['---'] * len(titles))}{body}" if body else ""


def _section(name: str, event: type, python: str = "") -> str:
    told = f"`{python}`: " if python else ""
    return f"\n### {name}\n\n{told}{plain_doc(event)}\n" + table(
        ("field", "type"), ((f"`{key}`", f"`{kind}`") for key, kind in _fields(event))
    )


def _fields(event: type) -> Iterator[tuple[str, str]]:
    if is_dataclass(event):
        yield from ((field.name, str(field.type)) for field in fields(event))
        return
    given: Mapping[str, object] = event.__annotations__
    for name, kind in given.items():
        text = str(getattr(kind, "__forward_arg__", kind))
        nested = re.search(r"Served\w+", text)
        inner = _nested(nested[0]) if nested else ""
        yield name, text.replace(nested[0], inner) if nested else text


def _nested(name: str) -> str:
    home = served_data if hasattr(served_data, name) else board
    return "{" + ", ".join(f"{key}: {kind}" for key, kind in _fields(getattr(home, name))) + "}"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
