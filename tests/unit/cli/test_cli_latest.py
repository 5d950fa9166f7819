"""The latest run: `pgs runs`, `ask -c`, and commands without RUN."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from typer.testing import CliRunner

from pgs_neo4j.cli import connection
from pgs_neo4j.cli.app import app
from pgs_neo4j.cli.pages.run_words import listed
from pgs_neo4j.errors import UnknownRunError
from pgs_neo4j.events import TextStreamed
from pgs_neo4j.export import Document
from pgs_neo4j.model import Answer, FeedbackResult, Outcome
from pgs_neo4j.runs.listing import RunInfo
from pgs_neo4j.runs.runs import StoredRun

Make = Callable[..., Answer]


def info(run: str = "r9", **changed: Any) -> RunInfo:
    values: dict[str, Any] = {
        "id": run, "graph": "papers", "session": "my line", "mode": "full", "status": "complete",
        "question": "who's there?", "started_at": "2026-01-02T03:04:05Z",
        "finished_at": "2026-01-02T03:05:05Z", "answered": True, "silent": False,
        "nodes_read": 1200, "seconds": 60.0, "model": "extractive", "cost": 0.0, "error": None,
        "structure_only": False,
    }  # fmt: skip
    return RunInfo(**{**values, **changed})


class Runs:
    """Stands in for ``pgs.runs``, with two runs on record."""

    def __init__(self) -> None:
        self.infos = [info("r9", answered=False, status="stopped"), info("r8")]
        self.asked: list[Any] = []
        self.former: Outcome | None = None

    async def __call__(self, graph: Any, session: Any, *, limit: int) -> list[RunInfo]:
        self.asked.append((graph, session, limit))
        return self.infos[:limit]

    async def latest(
        self, graph: Any = None, session: Any = None, *, answered: bool = False
    ) -> RunInfo:
        self.asked.append((graph, session))
        infos = [one for one in self.infos if one.answered or not answered]
        if not infos:
            raise UnknownRunError("there is no run yet; 'pgs ask' starts one")
        return infos[0]

    async def feedback(self, run: str, outcome: str, *, replace: bool) -> FeedbackResult:
        self.asked.append((run, outcome, replace))
        return FeedbackResult(
            run=run, graph="papers", outcome="accepted", former=self.former,
            changed=self.former != "accepted", nodes=12, triplets=1, missing=2,
        )  # fmt: skip

    async def get(self, run: str) -> StoredRun:
        properties = {"status": "stopped", "question": "why?", "details": None}
        return StoredRun(run, "papers", "my line", "g1", True, False, properties)


class Engine:
    """Stands in for the engine: remembers what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.runs, self.answer, self.asked = Runs(), answer, list[Any]()

    async def document(self, run: str) -> Document:
        self.asked.append(run)
        return Document(answer=self.answer, asked_at="2026-01-02T03:04:05Z", areas=())

    async def execute(self, question: str, *, on_event: Any, **asked: Any) -> Answer:
        self.asked.append((question, asked))
        on_event(TextStreamed(self.answer.text))
        return self.answer

    async def resume(self, run: str, *, on_event: Any, **knobs: Any) -> Answer:
        self.asked.append(run)
        return self.answer


@pytest.fixture
def engine(answer_of: Make, whole: Any, monkeypatch: pytest.MonkeyPatch) -> Engine:
    stand_in = Engine(answer_of(sweeps=whole))

    @asynccontextmanager
    async def opened(*given: Any, **knobs: Any) -> AsyncIterator[Engine]:
        yield stand_in

    monkeypatch.setattr(connection, "engine", opened)
    monkeypatch.setattr(connection, "database", opened)
    return stand_in


def pgs(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_continue_asks_the_latest_question_in_its_session(engine: Engine) -> None:
    done = pgs("ask", "-c")
    assert done.exit_code == 0
    question, asked = engine.asked[0]
    assert question == "who's there?"
    assert (asked["graph"], asked["session_id"], asked["mode"]) == ("papers", "my line", "continue")
    assert "continuing after run r9 of graph papers, session my line: who's there?" in done.stderr


def test_continue_takes_another_question_and_mode(engine: Engine) -> None:
    done = pgs("ask", "--continue", "-q", "--mode", "targeted", "and", "why?")
    assert (done.exit_code, done.stderr) == (0, "")
    question, asked = engine.asked[0]
    assert (question, asked["mode"]) == ("and why?", "targeted")


def test_continue_stays_in_a_named_graph_and_session(engine: Engine) -> None:
    assert pgs("ask", "-c", "-g", "papers", "--session", "my line").exit_code == 0
    assert engine.runs.asked == [("papers", "my line")]


def test_continue_asks_only_the_structure_where_the_latest_run_did(engine: Engine) -> None:
    assert pgs("ask", "-c").exit_code == 0
    engine.runs.infos = [info(structure_only=True)]
    assert pgs("ask", "-c").exit_code == 0
    first, second = (asked for _, asked in engine.asked)
    assert "structure_only" not in first
    assert second["structure_only"] is True


def test_without_a_run_there_is_nothing_to_continue(engine: Engine) -> None:
    engine.runs.infos = []
    done = pgs("ask", "-c", "-q")
    assert (done.exit_code, engine.asked) == (2, [])
    assert done.stderr == "pgs: there is no run yet; 'pgs ask' starts one\n"


def test_show_and_resume_take_the_latest_run_and_say_so(engine: Engine) -> None:
    said = "note: the latest run: r9 of graph papers, session my line: who's there?"
    shown = pgs("show")
    assert shown.exit_code == 0
    assert said in shown.stderr
    assert "pgs resume r9" in shown.stdout
    assert said in pgs("resume", "-g", "papers").stderr
    assert engine.asked == ["r9"]
    assert engine.runs.asked == [(None, None), ("papers", None)]


def test_export_takes_the_latest_answer(engine: Engine) -> None:
    done = pgs("export", "--to", "-", "--format", "md")
    assert done.exit_code == 0
    assert engine.asked == ["r8"]
    assert "the latest run with an answer: r8 of graph papers" in done.stderr


@pytest.mark.parametrize("command", [("show",), ("resume",), ("export", "--to=-", "--format=md")])
def test_a_named_run_needs_no_graph(engine: Engine, command: tuple[str, ...]) -> None:
    done = pgs(*command, "r8", "--graph", "papers")
    assert done.exit_code == 2
    assert "--graph chooses the latest run of a graph" in done.stderr


def test_runs_are_listed(engine: Engine) -> None:
    done = pgs("runs", "-g", "papers", "--session", "s", "-n", "1")
    assert done.stdout.splitlines() == [
        "r9  2026-01-02 03:04  stopped  1,200 nodes read  graph papers, session my line",
        "  who's there?",
    ]
    assert engine.runs.asked == [("papers", "s", 1)]
    document = json.loads(pgs("runs", "--json").stdout)
    assert [run["id"] for run in document["runs"]] == ["r9", "r8"]
    assert document["runs"][0]["answered"] is False
    engine.runs.infos = []
    assert "'pgs ask' starts one" in pgs("runs").stderr


def test_a_listed_question_stays_on_its_line(hostile: str) -> None:
    head, question = listed([info(question=hostile * 20, nodes_read=None, silent=True)], 80)
    assert "running (silent)" in head
    assert len(question) <= 80
    assert (head + question).isprintable()


def test_feedback_takes_the_latest_answer_or_a_named_run(engine: Engine) -> None:
    done = pgs("feedback", "accepted")
    assert (done.exit_code, engine.runs.asked[-1]) == (0, ("r8", "accepted", False))
    assert "the latest run with an answer: r8 of graph papers" in done.stderr
    assert done.stdout.splitlines() == [
        "run r8 is accepted; the weights of 12 nodes and 1 relationship follow",
        "no longer in the graph: 2 nodes that it cites",
    ]
    engine.runs.former = "rejected"
    done = pgs("feedback", "r7", "accepted", "--replace", "--json")
    assert (done.stderr, engine.runs.asked[-1]) == ("", ("r7", "accepted", True))
    document = json.loads(done.stdout)
    assert (document["former"], document["changed"], document["triplets"]) == ("rejected", True, 1)
    assert "is accepted instead of rejected" in pgs("feedback", "r7", "accepted").stdout
    engine.runs.former = "accepted"
    assert "already has the outcome accepted; nothing changed" in pgs("feedback", "accepted").stdout


@pytest.mark.parametrize("words", [(), ("good",), ("r8",), ("r8", "good"), ("accepted", "r8")])
def test_feedback_without_an_outcome_is_refused(engine: Engine, words: tuple[str, ...]) -> None:
    done = pgs("feedback", *words)
    assert (done.exit_code, engine.runs.asked) == (2, [])
    assert "accepted, rework, or rejected" in done.stderr


def test_a_list_of_runs_says_their_outcome() -> None:
    head, _ = listed([info(outcome="rework")], 80)
    assert "1,200 nodes read  rework  graph papers" in head
