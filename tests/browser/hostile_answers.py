"""Every view of the page, with all hostile texts in every field of what the server answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from tests.browser.scripted_page import GRAPH, OWNER, RUN, atlas, place
from tests.hostile import hostile_texts

LIVE = "/api/jobs/live"
JOB = {"job": "b000000000001", "graph": "papers", "kind": "ingest", "events": f"{LIVE}/b1/events"}
PAPERS, ONE = "/api/graphs/papers", "/api/runs/r000000000001"
NODE = "4:a:1"
SHOWN = 20
"""Files that were refused and are listed; the others are counted."""


@dataclass(frozen=True)
class Rows:
    """Stands for rows of a list, one for each text; ``#`` is the number of the row."""

    row: Any


@dataclass(frozen=True)
class Pages:
    """Stands for a list that comes in two pages."""

    name: str
    row: Any


@dataclass(frozen=True)
class View:
    """An address, what the server answers there, and the buttons to press one after the other.

    ``@name`` stands for all texts of a name at once; for one of them in ``Rows`` and as a key.
    """

    way: str
    answers: dict[str, Any] = field(default_factory=dict)
    streams: dict[str, list[Any]] = field(default_factory=dict)
    failures: dict[str, tuple[int, Any]] = field(default_factory=dict)
    query: dict[str, str] | None = field(default_factory=dict)
    buttons: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass
class Fields:
    """Gives texts to fields, and remembers the marks that must be seen."""

    marks: list[str] = field(default_factory=list)

    def fill_view(self, view: View) -> View:
        """Put texts in all places of a view."""
        filled = {name: self.fill(getattr(view, name)) for name in ("answers", "streams")}
        way = view.way
        if view.query is not None:
            way += f"?{urlencode({'graph': 'papers'} | self.fill(view.query))}"
        files = tuple(self.each("file", SHOWN)) if view.files == ("@file",) else view.files
        return replace(view, way=way, files=files, failures=self.fill(view.failures), **filled)

    def fill(self, sample: Any) -> Any:
        """Put texts in the places of a sample."""
        if isinstance(sample, str):
            head, _, name = sample.partition("@")
            return head + "\n".join(self.each(name)) if name else sample
        if isinstance(sample, dict):
            return dict(pair for item in sample.items() for pair in self._items(*item))
        if isinstance(sample, tuple):
            return tuple(self.fill(one) for one in sample)
        if isinstance(sample, list):
            return [one for part in sample for one in self._elements(part)]
        return self._pages(sample) if isinstance(sample, Pages) else sample

    def each(self, name: str, most: int | None = None) -> list[str]:
        """All texts, or so many, for a field."""
        pairs = [*hostile_texts(name)][:most]
        self.marks += [mark for mark, _ in pairs]
        return [text for _, text in pairs]

    def _items(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        if not name.startswith("@"):
            yield self.fill(name), self.fill(value)
            return
        for row in self._elements(Rows([name, value])):
            yield row[0], row[1]

    def _elements(self, part: Any) -> Iterator[Any]:
        if isinstance(part, Rows):
            names = dict.fromkeys(re.findall(r"@(\w+)", str(part.row)))
            columns = [self.each(name) for name in names]
            for number, texts in enumerate(zip(*columns, strict=True), 1):
                yield _row(part.row, number, dict(zip(names, texts, strict=True)))
        elif isinstance(part, str) and part.startswith("@"):
            yield from self.each(part[1:])
        else:
            yield self.fill(part)

    def _pages(self, pages: Pages) -> Any:
        rows = self.fill([Rows(pages.row)])
        half = len(rows) // 2 + 1

        def listed(query: dict[str, list[str]]) -> dict[str, Any]:
            """Half of the rows, and then the others."""
            rest = "after" in query
            told = rows[half:] if rest else rows[:half]
            return {pages.name: told, "after": None if rest else rows[half - 1]["id"]}

        return listed


def _row(sample: Any, number: int, texts: dict[str, str]) -> Any:
    """A row with its number and its texts."""
    if isinstance(sample, dict):
        return {
            _row(name, number, texts): _row(value, number, texts) for name, value in sample.items()
        }
    if isinstance(sample, list):
        return [_row(one, number, texts) for one in sample]
    if not isinstance(sample, str):
        return sample
    if sample.startswith("@"):
        return texts[sample[1:]]
    return {"#": number, "#+": number + 1}.get(sample) or sample.replace("#", str(number))


def _all(*names: str, **more: Any) -> dict[str, Any]:
    """Fields with texts of their own names, and others."""
    return {name: f"@{name}" for name in names} | more


def _ones(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, 1)


def _live(*told: Any, question: str = "Why?") -> View:
    live = {**RUN, "state": "running", "answered": False, "question": question}
    way = "/run?id=r000000000001"
    return View(way, {ONE: live}, {f"{ONE}/events": [*told]}, query=None)


def _job(*told: tuple[str, Any]) -> View:
    answers = {"/api/jobs": [], LIVE: [JOB]}
    return View("/jobs", answers, {JOB["events"]: [*told]}, query={"live": JOB["job"]})


FAILURE = _all("error", "fix", code="x")
PASS = {"partition": "#", "nodes": 20, "status": "reading", "number": 1, "passes": 2}
SWEEP = {"partition": "#", "nodes": 20, "nodes_read": 20, "targets": [2]}
PART = {"id": "#", "pool": False, "nodes": 20, "tokens": 1, "adjacent": []}
WAIT = {
    "wait_s": 3600, "until": (datetime.now(UTC) + timedelta(days=1)).isoformat(), "partition": None,
}  # fmt: skip
GENERATION = _ones(
    *("node_count", "partition_count", "modularity", "conductance", "split", "merged"),
    *("relationship_count", "pooled_nodes", "raw_modularity", "dimensions"),
)
RULES = {"endings": [], "most_bytes": 10**6, "most_files": 400}
DOCUMENTS = f"{PAPERS}/documents"
LISTED = {"total": 300, "after": None, "documents": [Rows({"chunks": 1, "size": 1, "id": "@id"})]}

VIEWS: dict[str, View] = {
    "frame": View("/cost", {
        "/api/cost": [], "/api/me": {**OWNER, "name": "@me"},
        "/api/graphs": [GRAPH, Rows({**GRAPH, "name": "@name"})],
    }),
    "ask": View("/", {"/api/plan": {
        **_all("budget", "note", "advice", sweep_model="@model", cost={"low": 0.1, "high": 0.2}),
        **_ones("calls", "cached", "input_tokens", "output_tokens"),
        **dict.fromkeys(("without_flags", "with_flags", "most"), _ones(
            "partitions", "calls", "input_tokens", "output_tokens", "cost")),
        "sweeps": [Rows({"partition": "#", "nodes": 1, "passes": 1, "input_tokens": 1,
                         "reason": "@reason"})],
    }}, query=_all("question", "session"), buttons=("Plan",)),
    "ask_search": View("/", {"/api/search/plan": {
        **_all("mode", "model", "budget", low=None, high=None),
        **_ones("nodes", "relationships", "calls", "input_tokens", "output_tokens"),
    }}, query={"mode": "search", "question": "Why?"}, buttons=("Plan",)),
    "search": View("/search", {"/api/search": {
        "question": "Why?", "seconds": 0.1, **_all("mode", "reason"), "warnings": ["@warning"],
        "items": [Rows({"id": "4:a:#", "score": 1.0, "labels": ["@label"],
                        "scores": {"@path": 1.0}, **_all("title", "text", "way")})],
        "facts": [Rows({"source": "1", "target": "2", "type": "T", "text": "@factual",
                        **_all("source_title", "name", "target_title")})],
        "units": [Rows({"id": "#", "level": 0, "size": 1, "score": 1.0, "abstract": "",
                        "label": "@unit", "domain_state": "@domain_state"})],
        "findings": [Rows({"partition": "#", "run": "r1", "text": "@finding"})],
        "paths": [Rows({"count": 1, "seconds": 0.1, "name": "@pathname",
                        **_all("method", "error")})],
    }}, {f"{ONE}/events": [("text_streamed", {"text": "@streamed"})]},
        query={"q": "@words", "run": "r000000000001"}),
    "map": View("/map", {
        f"{PAPERS}/map": {**atlas(), "places": [
            Rows({**place(0), "id": "#", "partitions": ["#"], "label": "@label"})]},
        f"{PAPERS}/partitions": Pages("partitions", {**PART, "keywords": ["@keyword"]}),
        f"{PAPERS}/partitions/999": {**PART, "id": 999, "label": "@partition",
                                     "keywords": ["@word"], "abstract": "@abstract"},
        f"{PAPERS}/read": [],
        f"{PAPERS}/analogies": [Rows({"first": "#", "second": "#+", "links": 1,
                                      "titles": ["@titles"]})],
        f"{PAPERS}/flags": [Rows({"source": "#", "target": "#+", "chased": False, "run": "r1",
                                  "text": "@flag"})],
        f"{PAPERS}/partitions/999/members": {"after": None, "members": [
            Rows({"element_id": NODE, "title": "@member", "labels": ["@kind"]})]},
        "/api/sessions": [Rows({"session": "@session"})],
    }, query={"partition": "999", "analogies": "on", "flags": "on"}, buttons=("List more",)),
    "node": View("/node", {
        f"{PAPERS}/nodes/{NODE}": {
            **_all("title", "key", "text", "partition_label"), "labels": ["@label"],
            "partition": 1, "properties_left_out": 0,
            "properties": {"@property": "@value", "many": ["@item"]},
        },
        f"{PAPERS}/nodes/{NODE}/neighbors": {
            "after": None, "complete": False,
            "neighbors": [Rows({"outgoing": True, "element_id": NODE, "title": "@neighbor",
                                **_all("type", "fact")})],
            "counts": [Rows({"outgoing": True, "count": 1, "type": "@type"})],
        },
        f"{PAPERS}/nodes/{NODE}/findings": [
            Rows({"run": "r1", "supported": False, "quotes": ["@finding"], "text": "@finding",
                  **_all("question", "session", "started_at")})],
    }, query={"id": NODE}),
    "runs": View("/runs", {"/api/runs": [
        Rows({"run": "r#", "nodes_read": 1, "cost": 1.0,
              **_all("question", "session", "status", "started_at")})]}),
    "sessions": View("/sessions", {"/api/sessions": [
        Rows({"coverage": None, "runs": 1, **_all("session", "graph", "updated_at")})]}),
    "session": View("/session", {f"{PAPERS}/sessions/@session": {
        "graph": "papers", "coverage": None, "runs": [
            Rows({"id": "r#", "nodes_read": 1, "cost": 1.0, **_all(
                "question", "status", "mode", "thesis", "error", "started_at")})],
    }}, query={"session": "@session"}),
    "live_run": _live(
        ("routed", {"routes": [Rows({"partition": "#", "reason": "@reason"})]}),
        ("text_streamed", {"text": "@streamed"}),
        ("phase_started", {"phase": "@phase"}),
        ("call_retried", {**WAIT, "task": "@task", "reason": "@wait"}),
        ("warned", {"message": "@message"}),
        question="@question",
    ),
    "live_passes": _live(Rows(["pass_finished", {**PASS, "error": "@error"}])),
    "live_sweeps": _live(
        Rows(["sweep_finished", {**SWEEP, "status": "@status", "findings": ["@finding"]}])),
    "failed_run": _live(("failed", FAILURE)),
    "graphs": View("/graphs", {
        "/api/graphs": [GRAPH, Rows({**GRAPH, "name": "@name", "labels": ["@label"]})],
        "/api/inspect": {"nodes": 1, "relationships": 1, "labels": [], "domains": [], "mapping": {
            "labels": [Rows("@held")], "text": [Rows("@prose")], "titles": [Rows("@titled")],
            "title": "@title", "keys": [Rows("@keyed")], "key": "@key"}},
    }, buttons=("See what the database holds",)),
    "generations": View("/generations", {
        f"{PAPERS}/generations": [
            {**GENERATION, **dict.fromkeys(("id", "created_at", "algorithm", "origin"), "x"),
             "issues": {"@issue": 1}, "embedder": "@embedder", "seconds": {"@step": 1.0},
             "sizes": [1], "levels": []},
            Rows({**GENERATION, **_all("id", "created_at", "algorithm", "origin")}),
        ],
        f"{PAPERS}/generations/compare": [
            Rows({"before": "#", "after": "#", "lineage": "#", "size_before": 1, "size_after": 2,
                  "label": "@label"})],
    }),
    "documents": View("/documents", {
        DOCUMENTS: LISTED, "/api/uploads": {**RULES, "endings": [".pdf"]},
    }, files=("@file",)),
    "ingestion": View("/documents", {
        DOCUMENTS: {"total": 0, "after": None, "documents": []}, "/api/uploads": RULES,
        "/api/graphs/documents/uploads": {"id": "u1"}, "/api/graphs/documents/ingestions": JOB,
    }, {JOB["events"]: [("ended", {
        "states": {"@states": 1}, "notes": ["@note"], "record": "j1", "cost": None,
        "outcome": "partial",
        "documents": [Rows({"chunks": 1, "note": "", **_all("id", "state", "reason")})],
    })]}, files=("a.md",)),
    "document": View("/document", {
        f"{PAPERS}/document": {
            **_ones("size", "entities", "relations"), "name": "@name", "stale": ["@stale"],
            "unread": ["@unread"],
            "chunks": [Rows({"index": "#", "path": ["@heading"], "page": None,
                             **_ones("characters", "entities", "relations")})],
        },
        f"DELETE {PAPERS}/document": {
            **_ones("chunks", "entities", "relations", "replies", "descriptions", "sentences",
                    "scanned", "held"),
            "holders": [Rows(_all("kind", "id", "place"))],
            "quoting": [Rows({"run": "r1", "forgotten": True, "question": "@question"})],
        },
    }, query={"id": "@document"}, buttons=("Delete", "dialog Delete")),
    "jobs": View("/jobs", {
        "/api/jobs": [Rows({"silent": False, **_all(
            "id", "kind", "outcome", "started_at", "finished_at")})],
        LIVE: [Rows({**JOB, "job": "b#", "kind": "@livekind", "graph": "@livegraph"})],
    }),
    "job_phase": _job(("step_started", _all("phase", "step"))),
    "job_progress": _job(("progressed", {"done": 1, "total": 2, "what": "@what"})),
    "job_failed": _job(("failed", FAILURE)),
    "job": View("/job?id=j1", {"/api/jobs/j1": {
        "id": "@id", "@name": "@value", "figures": {"@figure": "@count"},
    }}, query=None),
    "cost": View("/cost", {"/api/cost": [Rows({
        **dict.fromkeys(("runs", "calls", "cached", "input_tokens", "output_tokens", "cost",
                         "unpriced"), 2),
        **_all("day", "graph", "session", "model"),
    })]}),
    "doctor": View("/doctor", {"/api/doctor": [Rows(_all("name", "status", "detail", "fix"))]}),
    "problem": View("/runs", failures={"/api/runs": (500, FAILURE)}),
    "login": View("/#token=abc", failures={"/api/login": (401, FAILURE)}, query=None),
}  # fmt: skip
