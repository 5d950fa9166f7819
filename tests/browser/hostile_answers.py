"""Every view of the page, with all hostile texts in every field of what the server answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from tests.browser.scripted_page import GRAPH, OWNER, RUN, atlas, place
from tests.hostile import hostile_texts

LIVE = "/api/jobs/live"
JOB = {"job": "b000000000001", "graph": "papers", "kind": "ingest", "events": f"{LIVE}/b1/events"}
NODE = "4:a:1"
SHOWN = 20
"""Files that were refused and are listed; the others are counted."""


@dataclass
class Fields:
    """Gives texts to fields, and remembers the marks that must be seen."""

    marks: list[str] = field(default_factory=list)

    def each(self, name: str, most: int | None = None) -> list[str]:
        """All texts, or so many, for a field of the rows of a list."""
        pairs = [*hostile_texts(name)][:most]
        self.marks += [mark for mark, _ in pairs]
        return [text for _, text in pairs]

    def whole(self, name: str) -> str:
        """All texts at once, for a field that a view shows once."""
        return "\n".join(self.each(name))

    def rows(self, *names: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Rows of a list, counted from 1, with a text in each of these fields."""
        columns = [self.each(name) for name in names]
        for number, row in enumerate(zip(*columns, strict=True), 1):
            yield number, dict(zip(names, row, strict=True))


@dataclass(frozen=True)
class View:
    """An address, what the server answers there, and the buttons to press one after the other."""

    way: str
    answers: dict[str, Any] = field(default_factory=dict)
    streams: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    failures: dict[str, tuple[int, Any]] = field(default_factory=dict)
    buttons: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def _way(path: str, **query: str) -> str:
    return f"{path}?{urlencode({'graph': 'papers'} | query)}"


def _failure(fields: Fields) -> dict[str, str]:
    return {"error": fields.whole("error"), "code": "x", "fix": fields.whole("fix")}


def frame(fields: Fields) -> View:
    """Who is here, and all graphs to choose from."""
    graphs = [GRAPH, *({**GRAPH, **row} for _, row in fields.rows("name"))]
    me = {**OWNER, "name": fields.whole("me")}
    return View(_way("/cost"), {"/api/cost": [], "/api/graphs": graphs, "/api/me": me})


def ask(fields: Fields) -> View:
    """A question that the address has, and its plan."""
    plan = {
        **{name: fields.whole(name) for name in ("budget", "note", "advice")},
        **{"calls": 1, "cached": 0, "input_tokens": 1, "output_tokens": 1},
        **{"cost": {"low": 0.1, "high": 0.2}, "sweep_model": fields.whole("model")},
        "sweeps": [{"partition": n, "nodes": 1, "passes": 1, "input_tokens": 1, **row}
                   for n, row in fields.rows("reason")],
    }  # fmt: skip
    way = _way("/", question=fields.whole("question"), session=fields.whole("session"))
    return View(way, {"/api/plan": plan}, buttons=("Plan",))


def ask_search(fields: Fields) -> View:
    """The plan of a search."""
    plan: dict[str, Any] = {name: fields.whole(name) for name in ("mode", "model", "budget")}
    plan |= dict.fromkeys(("nodes", "relationships", "calls", "input_tokens"), 1)
    plan |= {"output_tokens": 1, "low": None, "high": None}
    way = _way("/", mode="search", question="Why?")
    return View(way, {"/api/search/plan": plan}, buttons=("Plan",))


def search(fields: Fields) -> View:
    """What a search finds, and the text of an answer from it."""
    items = [
        {"id": f"4:a:{n}", "score": 1.0, "labels": [row.pop("label")],
         "scores": {row.pop("path"): 1.0}, **row}
        for n, row in fields.rows("title", "label", "text", "path", "way")
    ]  # fmt: skip
    ends = ("source_title", "name", "target_title", "factual")
    facts = [
        {"source": "1", "target": "2", "type": "T", **row, "text": row["factual"]}
        for _, row in fields.rows(*ends)
    ]
    units = [
        {"id": n, "level": 0, "size": 1, "score": 1.0, "abstract": "", **row}
        for n, row in fields.rows("unit", "domain_state")
    ]
    found = {
        "question": "Why?", "items": items, "seconds": 0.1, "mode": fields.whole("mode"),
        "reason": fields.whole("reason"), "warnings": fields.each("warning"), "facts": facts,
        "units": [{**one, "label": one["unit"]} for one in units],
        "findings": [{"partition": n, "run": "r1", "text": row["finding"]}
                     for n, row in fields.rows("finding")],
        "paths": [{"count": 1, "seconds": 0.1, "name": row["pathname"], **row}
                  for _, row in fields.rows("pathname", "method", "error")],
    }  # fmt: skip
    way = _way("/search", q=fields.whole("words"), run="r000000000001")
    told = [("text_streamed", {"text": fields.whole("streamed")})]
    return View(way, {"/api/search": found}, {"/api/runs/r000000000001/events": told})


def map_(fields: Fields) -> View:
    """A map with all its arcs, and one partition beside it."""
    one = {"pool": False, "nodes": 20, "tokens": 1, "adjacent": []}
    parts = [{"id": n, **one, "keywords": [row["keyword"]]} for n, row in fields.rows("keyword")]
    opened = {"id": 999, **one, "label": fields.whole("partition"), "keywords": fields.each("word")}
    opened["abstract"] = fields.whole("abstract")
    graph = "/api/graphs/papers"
    places = [{**place(n, n), **row} for n, row in fields.rows("label")]
    page = len(parts) // 2 + 1

    def listed(query: dict[str, list[str]]) -> dict[str, Any]:
        """Half of the partitions, and then the others."""
        rest = "after" in query
        told = parts[page:] if rest else parts[:page]
        return {"partitions": told, "after": None if rest else parts[page - 1]["id"]}

    answers = {
        f"{graph}/map": {**atlas(), "places": places}, f"{graph}/partitions": listed,
        f"{graph}/partitions/999": opened, f"{graph}/read": [],
        f"{graph}/analogies": [{"first": n, "second": n + 1, "links": 1, "titles": [row["titles"]]}
                               for n, row in fields.rows("titles")],
        f"{graph}/flags": [{"source": n, "target": n + 1, "chased": False, "run": "r1",
                            "text": row["flag"]} for n, row in fields.rows("flag")],
        f"{graph}/partitions/999/members": {"after": None, "members": [
            {"element_id": NODE, "title": row["member"], "labels": [row["kind"]]}
            for _, row in fields.rows("member", "kind")
        ]},
        "/api/sessions": [row for _, row in fields.rows("session")],
    }  # fmt: skip
    way = _way("/map", partition="999", analogies="on", flags="on")
    return View(way, answers, buttons=("List more",))


def node(fields: Fields) -> View:
    """A node, what is around it, and what was found about it."""
    told: dict[str, Any] = {name: fields.whole(name) for name in ("title", "key", "text")}
    told["partition_label"] = fields.whole("partition_label")
    names, values = fields.each("property"), fields.each("value")
    told |= {"labels": fields.each("label"), "partition": 1, "properties_left_out": 0}
    told["properties"] = dict(zip(names, values, strict=True)) | {"many": fields.each("item")}
    around = [
        {"outgoing": True, "element_id": NODE, "title": row["neighbor"], **row}
        for _, row in fields.rows("neighbor", "type", "fact")
    ]
    counts = [{"outgoing": True, "count": 1, **row} for _, row in fields.rows("type")]
    findings = [
        {"run": "r1", "supported": False, "quotes": [row["finding"]], "text": row["finding"], **row}
        for _, row in fields.rows("finding", "question", "session", "started_at")
    ]
    base = f"/api/graphs/papers/nodes/{NODE}"
    near = {"after": None, "complete": False, "neighbors": around, "counts": counts}
    answers = {base: told, f"{base}/neighbors": near, f"{base}/findings": findings}
    return View(_way("/node", id=NODE), answers)


def runs(fields: Fields) -> View:
    """Recorded runs."""
    listed = [
        {"run": f"r{n}", "nodes_read": 1, "cost": 1.0, **row}
        for n, row in fields.rows("question", "session", "status", "started_at")
    ]
    return View(_way("/runs"), {"/api/runs": listed})


ONE = "/api/runs/r000000000001"


def _live(told: list[tuple[str, Any]], question: str = "Why?") -> View:
    live = {**RUN, "state": "running", "answered": False, "question": question}
    return View("/run?id=r000000000001", {ONE: live}, {f"{ONE}/events": told})


def live_run(fields: Fields) -> View:
    """A run in progress that waits."""
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    wait = {"wait_s": 3600, "until": until, "partition": None}
    told = [
        ("routed", {"routes": [{"partition": n, **row} for n, row in fields.rows("reason")]}),
        ("text_streamed", {"text": fields.whole("streamed")}),
        ("phase_started", {"phase": fields.whole("phase")}),
        ("call_retried", {**wait, "task": fields.whole("task"), "reason": fields.whole("wait")}),
        ("warned", {"message": fields.whole("message")}),
    ]
    return _live(told, fields.whole("question"))


def live_passes(fields: Fields) -> View:
    """A run in progress whose passes fail."""
    one = {"nodes": 20, "status": "reading", "number": 1, "passes": 2}
    return _live([("pass_finished", {"partition": n, **one, **row})
                  for n, row in fields.rows("error")])  # fmt: skip


def live_sweeps(fields: Fields) -> View:
    """A run in progress that has findings."""
    one = {"nodes": 20, "nodes_read": 20, "targets": [2]}
    return _live([("sweep_finished", {"partition": n, **one, **row, "findings": [row["finding"]]})
                  for n, row in fields.rows("status", "finding")])  # fmt: skip


def failed_run(fields: Fields) -> View:
    """A run that failed."""
    live = {**RUN, "state": "running", "answered": False}
    return View(
        "/run?id=r000000000001", {ONE: live}, {f"{ONE}/events": [("failed", _failure(fields))]}
    )


def sessions(fields: Fields) -> View:
    """Sessions, and the graphs that they are of."""
    listed = [{"coverage": None, "runs": 1, **row}
              for _, row in fields.rows("session", "graph", "updated_at")]  # fmt: skip
    return View(_way("/sessions"), {"/api/sessions": listed})


def session(fields: Fields) -> View:
    """One session."""
    name = fields.whole("session")
    shown = ("question", "status", "mode", "thesis", "error", "started_at")
    told = [{"id": f"r{n}", "nodes_read": 1, "cost": 1.0, **row} for n, row in fields.rows(*shown)]
    path = f"/api/graphs/papers/sessions/{name}"
    answer = {"graph": "papers", "coverage": None, "runs": told}
    return View(_way("/session", session=name), {path: answer})


def graphs(fields: Fields) -> View:
    """Graphs, and what the database holds."""
    listed = [{**GRAPH, "name": row["name"], "labels": [row["label"]]}
              for _, row in fields.rows("name", "label")]  # fmt: skip
    labels = [
        {"label": row["held"], "count": 1, "properties": [{"name": row["prose"], "prose": True}]}
        for _, row in fields.rows("held", "prose")
    ]
    held = {"nodes": 1, "relationships": 1, "labels": labels}
    answers = {"/api/graphs": [GRAPH, *listed], "/api/inspect": held}
    return View(_way("/graphs"), answers, buttons=("See what the database holds",))


def generations(fields: Fields) -> View:
    """Generations, the report of the latest, and what changed since the one before."""
    numbers = ("node_count", "partition_count", "modularity", "conductance", "split", "merged",
               "relationship_count", "pooled_nodes", "raw_modularity", "dimensions")  # fmt: skip
    shown = ("id", "created_at", "algorithm", "origin")
    more = {
        "issues": dict.fromkeys(fields.each("issue"), 1), "embedder": fields.whole("embedder"),
        "seconds": dict.fromkeys(fields.each("step"), 1.0), "sizes": [1], "levels": [],
    }  # fmt: skip
    listed = [{**dict.fromkeys(numbers, 1), **row} for _, row in fields.rows(*shown)]
    listed[0] |= more
    sizes = {"size_before": 1, "size_after": 2}
    changes = [{"before": n, "after": n, "lineage": n, **sizes, **row}
               for n, row in fields.rows("label")]  # fmt: skip
    path = "/api/graphs/papers/generations"
    return View(_way("/generations"), {path: listed, f"{path}/compare": changes})


RULES = {"endings": [], "most_bytes": 10**6, "most_files": 400}
DOCUMENTS = "/api/graphs/papers/documents"


def _documents(fields: Fields) -> dict[str, Any]:
    rows = [{"chunks": 1, "size": 1, **row} for _, row in fields.rows("id")]
    return {DOCUMENTS: {"total": len(rows), "after": None, "documents": rows}}


def documents(fields: Fields) -> View:
    """Documents, and files that are refused before they are sent."""
    rules = {**RULES, "endings": [".pdf"]}
    dropped = tuple(fields.each("file", SHOWN))
    return View(_way("/documents"), {**_documents(fields), "/api/uploads": rules}, files=dropped)


def ingestion(fields: Fields) -> View:
    """What became of files that were sent."""
    ended = {
        "states": dict.fromkeys(fields.each("states"), 1), "notes": fields.each("note"),
        "record": "j1", "cost": None, "outcome": "partial",
        "documents": [{"chunks": 1, "note": "", **row}
                      for _, row in fields.rows("id", "state", "reason")],
    }  # fmt: skip
    answers = {
        DOCUMENTS: {"total": 0, "after": None, "documents": []}, "/api/uploads": RULES,
        "/api/graphs/documents/uploads": {"id": "u1"}, "/api/graphs/documents/ingestions": JOB,
    }  # fmt: skip
    told = [("ended", ended)]
    return View(_way("/documents"), answers, {JOB["events"]: told}, files=("a.md",))


def document(fields: Fields) -> View:
    """A document, and the proof of its deletion."""
    one = {
        **{"size": 1, "entities": 1, "relations": 1, "name": fields.whole("name")},
        "stale": fields.each("stale"),
        "chunks": [{"index": n, "path": [row["heading"]], "page": None, "characters": 1,
                    "entities": 1, "relations": 1} for n, row in fields.rows("heading")],
    }  # fmt: skip
    counts = ("chunks", "entities", "relations", "replies", "descriptions", "sentences", "scanned")
    done = dict.fromkeys((*counts, "held"), 1) | {
        "holders": [row for _, row in fields.rows("kind", "id", "place")],
        "quoting": [{"run": "r1", "forgotten": True, **row} for _, row in fields.rows("question")],
    }
    path = "/api/graphs/papers/document"
    way = _way("/document", id=fields.whole("document"))
    return View(way, {path: one, f"DELETE {path}": done}, buttons=("Delete", "dialog Delete"))


def jobs(fields: Fields) -> View:
    """Jobs, and those in progress."""
    listed = [{"silent": False, **row} for _, row in
              fields.rows("id", "kind", "outcome", "started_at", "finished_at")]  # fmt: skip
    live = [{**JOB, "job": f"b{n}", "kind": row["livekind"], "graph": row["livegraph"]}
            for n, row in fields.rows("livekind", "livegraph")]  # fmt: skip
    return View(_way("/jobs"), {"/api/jobs": listed, LIVE: live})


def _job(*told: tuple[str, Any]) -> View:
    answers = {"/api/jobs": [], LIVE: [JOB]}
    return View(_way("/jobs", live=JOB["job"]), answers, {JOB["events"]: [*told]})


def job_phase(fields: Fields) -> View:
    """A job that says what it does."""
    told = {"phase": fields.whole("phase"), "step": fields.whole("step")}
    return _job(("step_started", told))


def job_progress(fields: Fields) -> View:
    """A job that says how far it is."""
    return _job(("progressed", {"done": 1, "total": 2, "what": fields.whole("what")}))


def job_failed(fields: Fields) -> View:
    """A job that failed."""
    return _job(("failed", _failure(fields)))


def job(fields: Fields) -> View:
    """The record of a job."""
    names, values = fields.each("name"), fields.each("value")
    told: dict[str, Any] = {"id": fields.whole("id"), **dict(zip(names, values, strict=True))}
    told["figures"] = dict(zip(fields.each("figure"), fields.each("count"), strict=True))
    return View("/job?id=j1", {"/api/jobs/j1": told})


def cost(fields: Fields) -> View:
    """Costs by day."""
    numbers = ("runs", "calls", "cached", "input_tokens", "output_tokens", "cost", "unpriced")
    listed = [{**dict.fromkeys(numbers, 2), **row}
              for _, row in fields.rows("day", "graph", "session", "model")]  # fmt: skip
    return View(_way("/cost"), {"/api/cost": listed})


def doctor(fields: Fields) -> View:
    """Checks of the setup."""
    listed = [row for _, row in fields.rows("name", "status", "detail", "fix")]
    return View(_way("/doctor"), {"/api/doctor": listed})


def problem(fields: Fields) -> View:
    """A view that could not be had."""
    return View(_way("/runs"), failures={"/api/runs": (500, _failure(fields))})


def login(fields: Fields) -> View:
    """A link that was refused."""
    return View("/#token=abc", failures={"/api/login": (401, _failure(fields))})


VIEWS: tuple[Callable[[Fields], View], ...] = (
    *(frame, ask, ask_search, search, map_, node, runs, sessions, session),
    *(live_run, live_passes, live_sweeps, failed_run),
    *(graphs, generations, documents, ingestion, document, jobs, job_phase, job_progress),
    *(job_failed, job, cost, doctor, problem, login),
)
