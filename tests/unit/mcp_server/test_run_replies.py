"""What is replied about runs: answers in pieces, their citations, and runs without an answer."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.errors import DeadlineError, UnknownRunError
from pgs_neo4j.mcp_server.questions import LiveQuestion
from pgs_neo4j.mcp_server.replies import RunReply
from pgs_neo4j.mcp_server.results import MOST_WARNINGS, plan_reply, question_reply, with_answer
from pgs_neo4j.model import Coverage, Plan, PlannedCalls, PlannedSweep, Routing
from tests.fakes.mcp_engine import (
    FakeEngine,
    Tenant,
    answer,
    call,
    said,
    service,
    shown,
    stored_run,
)

EMPTY = RunReply(run="r9", state="running", graph="birds", session="one", question="Why?")
ANSWERED = {"status": "complete", "details": "{}"}


def asked(run: str) -> LiveQuestion:
    return LiveQuestion(run, "birds", "ann / one", "Why?")


def reply(
    text: str = "Owls hunt [P1:n1].", tokens: int = 8000, offset: int = 0, **given: Any
) -> Any:
    opened = service(FakeEngine(), Tenant(), reply_tokens=tokens)
    return with_answer(EMPTY, answer(text, **given), offset, opened)


def test_an_answer_comes_with_the_nodes_that_it_cites_each_once() -> None:
    told = reply("Owls hunt [P1:n1], also [P1:n1]; not [P1:n9]. Mice hide [P2:n2].")
    cited = [(one.name, one.title, one.element_id) for one in told.from_model.citations]
    assert cited == [("P1:n1", "Owls", "4:a:1"), ("P2:n2", "Mice", "4:a:2")]
    assert (told.state, told.model_calls, told.tokens, told.cost) == ("complete", 3, 7, 0.5)
    assert (told.coverage.partitions_read, told.coverage.nodes) == (1, 9)
    assert "continue_reading" in told.note


def test_a_piece_comes_with_its_own_citations_only() -> None:
    text = f"Owls hunt [P1:n1]. {'word ' * 400}\nMice hide [P2:n2]."
    first = reply(text, tokens=500)
    assert [one.name for one in first.from_model.citations] == ["P1:n1"]
    assert f"offset={first.from_model.next_offset} has the rest" in first.note
    whole, offset = first.from_model.text, first.from_model.next_offset
    while offset is not None:
        part = reply(text, tokens=500, offset=offset)
        assert part.from_model.offset == offset
        whole, offset = whole + part.from_model.text, part.from_model.next_offset
    assert whole == text
    assert [one.name for one in part.from_model.citations] == ["P2:n2"]


def test_beyond_the_end_there_is_nothing_to_show_and_invisible_characters_are_dropped() -> None:
    told = reply(offset=9999).from_model
    assert (told.text, told.offset, told.next_offset) == ("", told.characters, None)
    hostile = reply("Owls\u202e hunt\x1b[31m red\U000e0041.")
    assert hostile.from_model.text == "Owls hunt red."


@pytest.mark.parametrize(
    ("given", "state", "note"),
    [
        ({"stopped": "the budget was used up"}, "partial", "a limit ended the run early: the bu"),
        (
            {"coverage": Coverage(
                partitions_swept=2, partitions_total=2, nodes_read=9, nodes_total=9
            )},
            "complete", "",
        ),
    ],
)  # fmt: skip
def test_a_reply_says_what_is_left_to_do(given: dict[str, Any], state: str, note: str) -> None:
    told = reply(**given)
    assert told.state == state
    assert told.note.startswith(note)
    assert bool(told.note) == bool(note)


def test_warnings_are_few_and_short() -> None:
    told = reply(warnings=tuple("long " * 200 for _ in range(9)))
    assert len(told.warnings) == MOST_WARNINGS
    assert all(len(warning) <= 300 for warning in told.warnings)


async def test_a_stored_answer_is_fetched_again() -> None:
    stored = stored_run("birds", "ann / one", **ANSWERED)
    engine = FakeEngine(stored={"r9": stored}, answers={"r9": answer()})
    fetched = await shown(engine, "result", run="r9", offset=5)
    assert (fetched["run"], fetched["session"], fetched["state"]) == ("r9", "one", "complete")
    assert (fetched["from_model"]["text"], fetched["from_model"]["offset"]) == ("hunt [P1:n1].", 5)


@pytest.mark.parametrize(
    ("silent", "note"), [(False, "it was asked elsewhere"), (True, "resumes it")]
)
async def test_a_run_of_another_process_is_awaited_while_it_lives(silent: bool, note: str) -> None:
    stored = stored_run("birds", "ann / one", silent, status="running")
    told = await shown(FakeEngine(stored={"r9": stored}), "result", run="r9")
    assert told["state"] == "running"
    assert note in told["note"]


@pytest.mark.parametrize(
    ("stored", "wanted", "given"),
    [
        ({}, {"max_cost": 1}, {"max_cost": 1.0}),
        ({"max_cost": 0.5}, {"max_cost": 9}, {"max_cost": 0.5}),
        ({"max_cost": 0.5}, {"max_cost": 0.25}, {"max_cost": 0.25}),
        ({"max_sweep_partitions": 2}, {"max_sweep_partitions": 9}, {"max_sweep_partitions": 2}),
        ({"max_sweep_partitions": 2}, {"max_sweep_partitions": 1}, {"max_sweep_partitions": 1}),
        ({"max_sweep_partitions": 2}, {}, {"max_sweep_partitions": 2}),
        ({}, {"max_sweep_partitions": 9}, {"max_sweep_partitions": 9}),
    ],
)
async def test_a_run_is_resumed_in_its_graph_and_session_and_no_limit_is_raised(
    stored: dict[str, Any], wanted: dict[str, Any], given: dict[str, Any]
) -> None:
    engine = FakeEngine(
        stored={"r9": stored_run("birds", "ann / one", limits=stored)}, answers={"r9": answer()}
    )
    told = await shown(engine, "continue_reading", run="r9", **wanted)
    assert (told["run"], told["session"], told["question"]) == ("r9", "one", "Why?")
    assert engine.asked == [("r9", given)]


async def test_further_reading_takes_the_last_question_of_the_session() -> None:
    infos = (
        SimpleNamespace(session="bob / one", question="Of Bob?"),
        SimpleNamespace(session="ann / one", question="Of Ann?"),
    )
    engine = FakeEngine(infos=infos)
    opened = service(engine, Tenant(), most_wait_s=0)
    refused = said(await call(opened, "continue_reading", session="two"))
    assert "session two of graph birds has no question" in refused
    told = (await call(opened, "continue_reading", session="one")).structured_content
    assert (told["question"], told["state"]) == ("Of Ann?", "running")
    await asyncio.sleep(0)
    ((question, given),) = engine.asked
    assert (question, given["mode"], given["session_id"]) == ("Of Ann?", "continue", "ann / one")
    assert "full_sweep" not in given
    stopped = (await call(opened, "cancel", run=told["run"])).structured_content
    assert (stopped["state"], stopped["run"]) == ("interrupted", "r000000000001")


async def test_further_reading_reads_everything_again_on_request() -> None:
    infos = (SimpleNamespace(session="ann / one", question="Of Ann?"),)
    engine = FakeEngine(infos=infos, stored={"r9": stored_run("birds", "ann / one")})
    opened = service(engine, Tenant(), most_wait_s=0)
    both = said(await call(opened, "continue_reading", run="r9", full_sweep=True))
    assert "leave out run or full_sweep" in both
    await call(opened, "continue_reading", session="one", full_sweep=True)
    await asyncio.sleep(0)
    ((_, given),) = engine.asked
    assert (given["mode"], given["full_sweep"]) == ("continue", True)


@pytest.mark.parametrize(
    ("raised", "run", "state", "error"),
    [
        (DeadlineError("the time is up"), "r7", "failed", "the time is up"),
        (ZeroDivisionError("secret"), "r7", "failed", "unexpected error in pgs_neo4j (Zero"),
        # Its run is on record, as it ended.
        (DeadlineError("the time is up"), "r9", "interrupted", "the time is up"),
    ],
)
async def test_a_question_that_failed_tells_why(
    raised: Exception, run: str, state: str, error: str
) -> None:
    opened = service(FakeEngine(stored={"r9": stored_run("birds", "ann / one")}), Tenant())

    async def fail(hear: Any, max_cost: float | None) -> Any:
        raise raised

    async def report(advance: Any) -> None: ...

    live = await opened.questions.start(asked(run), Tenant(), fail)
    live.advance.run = run
    await opened.questions.wait(live, 5, report)
    told = await question_reply(opened, Tenant(), live, 0)
    assert (told.state, told.run, told.from_model) == (state, run, None)
    assert told.error.startswith(error)
    assert "secret" not in told.error


def test_a_plan_that_is_too_long_says_so() -> None:
    sweeps = tuple(
        PlannedSweep(
            partition=number, nodes=5, passes=1, cached=0, input_tokens=10, output_tokens=2,
            output_most=4, reason="matches the question",
        )
        for number in range(1, 41)
    )  # fmt: skip
    plan = Plan(
        graph="birds", session="ann / one", mode="full", generation="g", sweep_model="m",
        synthesis_model="m", routing=Routing(routes=(), considered=40), sweeps=sweeps,
        synthesis=PlannedCalls(calls=1), flagged=PlannedCalls(), low=0.1, high=0.4,
        budget="the budget leaves out 3 partitions", contexts=(("m", "4,096 tokens"),),
        context_advice=("m takes little",),
    )  # fmt: skip
    told = plan_reply(plan, "one", 200)
    assert (told.partition_count, told.session, told.model_calls) == (40, "one", 41)
    assert told.note == f"{40 - len(told.partitions)} partitions left out to keep the reply short"
    assert (told.cost_low, told.cost_high) == (0.1, 0.4)
    assert told.limits == "the budget leaves out 3 partitions"
    assert (told.contexts, told.context_advice) == ({"m": "4,096 tokens"}, ["m takes little"])
    assert plan_reply(plan, "one", 20_000).note == ""


async def test_an_answer_is_read_back_and_gone_when_its_run_is() -> None:
    engine = FakeEngine(stored={"r9": stored_run("birds", "ann / one", details="{}")})
    opened = service(engine, Tenant())

    async def reply(hear: Any, max_cost: float | None) -> Any:
        return answer("Owls hunt [P1:n1].")

    async def report(advance: Any) -> None: ...

    live = await opened.questions.start(asked("r9"), Tenant(), reply)
    await opened.questions.wait(live, 5, report)
    engine.answers["r9"] = answer("It was forgotten.")
    told = await question_reply(opened, Tenant(), live, 0)
    assert told.from_model is not None
    assert told.from_model.text == "It was forgotten."
    engine.stored.clear()
    with pytest.raises(UnknownRunError):
        await question_reply(opened, Tenant(), live, 0)
