"""Runs commands in this process, with an engine that records calls and replies as it is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from inspect import isawaitable
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pgs_neo4j.cli import connection
from pgs_neo4j.cli.app import app
from pgs_neo4j.engine import Request
from pgs_neo4j.model import Generation
from pgs_neo4j.model.ingest import DocumentOutcome, DocumentState, Ingested
from tests.fakes.requests import options_of


def pgs(*words: str, stdin: str = "") -> Result:
    """Run a command, and return how it ended."""
    return CliRunner().invoke(app, list(words), input=stdin)


def on_one_line(text: str) -> str:
    """Return a text without its line breaks and columns."""
    return " ".join(text.split())


async def nothing_deleted(text: object) -> None:
    """Find no text of a document that was deleted."""


class StandIn:
    """Replaces the engine and its views.

    A call is identified by its path, as in ``jobs.get``. Its reply is a value, an error to raise,
    or a function of the arguments. A call without a reply fails the test. ``asked`` lists the path,
    the arguments, and the options of each call; ``opened`` lists how commands opened the engine.
    ``have`` sets attributes that are not calls, including those of views.
    """

    def __init__(self) -> None:
        self.replies: dict[str, Any] = {"watch_deletions": lambda: nothing_deleted}
        self.raising: Exception | None = None
        self.asked: list[Any] = []
        self.opened: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        return Call(self, name)

    def have(self, attributes: dict[str, Any]) -> None:
        """Set attributes by their paths."""
        vars(self).update(attributes)

    @asynccontextmanager
    async def opening(self, kind: str, *listeners: Any, **knobs: Any) -> AsyncIterator[StandIn]:
        self.opened.append((kind, set_options(knobs)))
        yield self

    def open_for_commands(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Make commands use this engine, with and without models."""
        for kind in ("engine", "database"):
            monkeypatch.setattr(connection, kind, partial(self.opening, kind))


class Call:
    """A view or a function of the engine, by its path."""

    def __init__(self, engine: StandIn, path: str) -> None:
        self.engine, self.path = engine, path

    def __getattr__(self, name: str) -> Any:
        path = f"{self.path}.{name}"
        return vars(self.engine).get(path, Call(self.engine, path))

    async def __call__(self, *given: Any, **options: Any) -> Any:
        if self.path == "runs.find":  # tests use complete ids, even if they are short
            return given[0]
        if given and isinstance(given[0], Request):
            request, *others = given
            given, options = (request.question, *others), options_of(request) | options
        wanted = set_options(options)
        self.engine.asked.append((self.path, *given, *([wanted] if wanted else [])))
        if self.engine.raising is not None:
            raise self.engine.raising
        reply = self.engine.replies[self.path]
        if isinstance(reply, Exception):
            raise reply
        if callable(reply):
            reply = reply(*given, **options)
        return await reply if isawaitable(reply) else reply


def set_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that have a value, without the listener."""
    return {
        name: value for name, value in options.items() if value is not None and name != "on_event"
    }


def outcomes(state: DocumentState, count: int, **given: Any) -> tuple[DocumentOutcome, ...]:
    """Return the outcomes of documents that are all in one state."""
    return tuple(
        DocumentOutcome(id=f"{state}-{n:02d}.md", state=state, **given) for n in range(count)
    )


def ingested(*documents: DocumentOutcome, **changed: Any) -> Ingested:
    """The result of an ingestion of a graph ``notes``."""
    given: dict[str, Any] = {"graph": "notes", "label": "Notes", "seconds": 0.5}
    return Ingested(outcomes=documents, **given | changed)


def generation(**changed: Any) -> Generation:
    """A generation of a graph ``papers``, with all its figures."""
    given: dict[str, Any] = {
        "id": "g2", "graph": "papers", "created_at": "2026-07-01T03:17:04.123Z", "settings": "s",
        "algorithm": "leiden-louvain", "fingerprint": "f", "node_count": 2_000,
        "relationship_count": 9_000, "partition_count": 5, "modularity": 0.71234,
        "sizes": (900, 600, 300, 150, 50), "pooled_nodes": 50, "embedder": None,
        "dimensions": None, "issues": {"isolated_nodes": 12, "self_loops": 1_500},
        "origin": "seeded", "raw_modularity": 0.73, "conductance": 0.0525, "split": 2,
        "merged": 1_200, "pools": 1, "levels": (4, 1),
        "seconds": {"scan": 1.5, "communities": 130.0, "clean up": 0.04},
    }  # fmt: skip
    return Generation(**given | changed)
