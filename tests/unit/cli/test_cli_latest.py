"""The latest run: `pgs runs`, `ask -c`, and commands without RUN."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pgs_neo4j.cli.pages.runs_page import run_lines
from pgs_neo4j.errors import UnknownRunError
from pgs_neo4j.export import Document
from pgs_neo4j.model import Answer, FeedbackResult, Outcome
from pgs_neo4j.pgs.runs.listing import RunInfo
from pgs_neo4j.pgs.runs.runs import StoredRun
from tests.fakes.commands import StandIn, pgs

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


INFOS = [info("r9", answered=False, status="stopped"), info("r8")]


@pytest.fixture
def engine(engine: StandIn, answer_of: Make, whole: Any) -> StandIn:
    """An engine with two runs on record, of which the older one has an answer."""
    answer = answer_of(sweeps=whole)
    document = Document(answer=answer, asked_at="2026-01-02T03:04:05Z", areas=())
    properties = {"status": "stopped", "question": "why?", "details": None}
    record(engine, *INFOS)
    engine.replies |= {
        "runs.get": lambda run: StoredRun(run, "papers", "my line", "g1", True, False, properties),
        "runs.document": document, "execute": answer, "resume": answer,
        "runs.feedback": feedback(None),
    }  # fmt: skip
    return engine


def record(engine: StandIn, *infos: RunInfo) -> None:
    """Put these runs on record."""

    def latest(
        graph: Any = None, session: Any = None, *, answered: bool = False, asked: bool = False
    ) -> RunInfo:
        found = [one for one in infos if one.answered or not answered]
        if asked:
            found = [one for one in found if one.mode in ("full", "continue", "targeted")]
        if not found:
            raise UnknownRunError("there is no run yet; 'pgs ask' starts one")
        return found[0]

    engine.replies |= {"runs.latest": latest, "runs": lambda *_, limit: [*infos[:limit]]}


def feedback(former: Outcome | None) -> Any:
    """What feedback returns, where a run had this outcome."""
    return lambda run, outcome, replace: FeedbackResult(
        run=run, graph="papers", outcome="accepted", former=former, changed=former != "accepted",
        nodes=12, triplets=1, missing=2,
    )  # fmt: skip


def calls(engine: StandIn, path: str) -> list[Any]:
    """What one function of the engine was asked."""
    return [call[1:] for call in engine.asked if call[0] == path]


def test_continue_asks_the_latest_question_as_it_was_asked(engine: StandIn) -> None:
    done = pgs("ask", "-c")
    assert done.exit_code == 0
    ((question, asked),) = calls(engine, "execute")
    assert question == "who's there?"
    assert (asked["graph"], asked["session_id"], asked["mode"]) == ("papers", "my line", "continue")
    assert "structure_only" not in asked
    assert "continuing after run r9 of graph papers, session my line: who's there?" in done.stderr
    record(engine, info(structure_only=True))
    assert pgs("ask", "-c").exit_code == 0
    assert calls(engine, "execute")[-1][1]["structure_only"] is True
    record(engine)
    done = pgs("ask", "-c", "-q")
    assert (done.exit_code, len(calls(engine, "execute"))) == (2, 2)
    assert done.stderr == "pgs: there is no run yet; 'pgs ask' starts one\n"


def test_continue_takes_another_question_mode_and_session(engine: StandIn) -> None:
    words = ("-q", "--mode", "targeted", "-g", "papers", "--session", "my line", "and", "why?")
    done = pgs("ask", "--continue", *words)
    assert (done.exit_code, done.stderr) == (0, "")
    ((question, asked),) = calls(engine, "execute")
    assert (question, asked["mode"]) == ("and why?", "targeted")
    assert calls(engine, "runs.latest") == [("papers", "my line", {"asked": True})]


def test_commands_take_the_latest_run_and_say_so(engine: StandIn) -> None:
    said = "note: the latest run: r9 of graph papers, session my line: who's there?"
    shown = pgs("show")
    assert shown.exit_code == 0
    assert said in shown.stderr
    assert "pgs resume r9" in shown.stdout
    assert said in pgs("resume", "-g", "papers").stderr
    assert calls(engine, "resume") == [("r9",)]
    any_run = {"answered": False}
    assert calls(engine, "runs.latest") == [(None, any_run), ("papers", any_run)]
    done = pgs("export", "--to", "-", "--format", "md")
    assert done.exit_code == 0
    assert calls(engine, "runs.document") == [("r8",)]
    assert "the latest run with an answer: r8 of graph papers" in done.stderr


@pytest.mark.parametrize("command", [("show",), ("resume",), ("export", "--to=-", "--format=md")])
def test_a_named_run_needs_no_graph(engine: StandIn, command: tuple[str, ...]) -> None:
    done = pgs(*command, "r8", "--graph", "papers")
    assert done.exit_code == 2
    assert "--graph chooses the latest run of a graph" in done.stderr


def test_runs_are_listed_and_a_question_stays_on_its_line(engine: StandIn, hostile: str) -> None:
    done = pgs("runs", "-g", "papers", "--session", "s", "-n", "1")
    assert done.stdout.splitlines() == [
        "r9  2026-01-02 03:04  stopped  1,200 nodes read  graph papers, session my line",
        "  who's there?",
    ]
    assert calls(engine, "runs") == [("papers", "s", {"limit": 1})]
    document = json.loads(pgs("runs", "--json").stdout)
    assert [run["id"] for run in document["runs"]] == ["r9", "r8"]
    assert document["runs"][0]["answered"] is False
    record(engine)
    assert "'pgs ask' starts one" in pgs("runs").stderr
    head, _ = run_lines([info(outcome="rework")], 80)
    assert "1,200 nodes read  rework  graph papers" in head
    head, _ = run_lines([info(nodes_unproven=40)], 80)
    assert "1,200 nodes read, 40 shown, unproven  graph papers" in head
    head, question = run_lines([info(question=hostile * 20, nodes_read=None, silent=True)], 80)
    assert "running (silent)" in head
    assert len(question) <= 80
    assert (head + question).isprintable()


def test_feedback_takes_the_latest_answer_or_a_named_run(engine: StandIn) -> None:
    done = pgs("feedback", "accepted")
    assert done.exit_code == 0
    assert "the latest run with an answer: r8 of graph papers" in done.stderr
    assert done.stdout.splitlines() == [
        "run r8 is accepted; the weights of 12 nodes and 1 relationship follow",
        "no longer in the graph: 2 nodes that it cites",
    ]
    engine.replies["runs.feedback"] = feedback("rejected")
    done = pgs("feedback", "r7", "accepted", "--replace", "--json")
    assert done.stderr == ""
    assert calls(engine, "runs.feedback") == [
        ("r8", "accepted", {"replace": False}), ("r7", "accepted", {"replace": True}),
    ]  # fmt: skip
    document = json.loads(done.stdout)
    assert (document["former"], document["changed"], document["triplets"]) == ("rejected", True, 1)
    assert "is accepted instead of rejected" in pgs("feedback", "r7", "accepted").stdout
    engine.replies["runs.feedback"] = feedback("accepted")
    assert "already has the outcome accepted; nothing changed" in pgs("feedback", "accepted").stdout


@pytest.mark.parametrize("words", [(), ("good",), ("r8",), ("r8", "good"), ("accepted", "r8")])
def test_feedback_without_an_outcome_is_refused(engine: StandIn, words: tuple[str, ...]) -> None:
    done = pgs("feedback", *words)
    assert (done.exit_code, engine.asked) == (2, [])
    assert "accepted, rework, or rejected" in done.stderr
