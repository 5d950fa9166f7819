"""Views before a scripted server: costs of asking, answers of a search, and jobs of the server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.scripted_page import OWNER, RUN, ScriptedServer

if TYPE_CHECKING:
    from playwright.async_api import Page

SWEEP = {
    "partition": 2, "nodes": 20, "passes": 1, "input_tokens": 900, "reason": "closest",
}  # fmt: skip
PLAN: dict[str, Any] = {
    "sweeps": [SWEEP], "calls": 2, "cached": 0, "input_tokens": 900, "output_tokens": 300,
    "cost": {"low": 0.01, "high": 0.02}, "sweep_model": "scripted", "budget": "", "note": "",
    "advice": "",
    "without_flags": {
        "partitions": 1, "calls": 2, "input_tokens": 900, "output_tokens": 300, "cost": 0.01,
    },
    "with_flags": {
        "partitions": 4, "calls": 5, "input_tokens": 3600, "output_tokens": 900, "cost": 0.02,
    },
    "most": {
        "partitions": 4, "calls": 50, "input_tokens": 40000, "output_tokens": 70000, "cost": 0.9,
    },
}  # fmt: skip
RUNS = "/api/runs"
ONE = f"{RUNS}/r000000000001"
HIT = {
    "id": "4:a:1", "title": "Sea ice", "labels": ["Paper"], "text": "It melts.", "score": 1.0,
    "scores": {"text": 1.0}, "way": "",
}  # fmt: skip
FOUND: dict[str, Any] = {
    "question": "Why?", "items": [HIT], "seconds": 0.1, "mode": "local", "reason": "",
    "warnings": [], "facts": [], "units": [], "findings": [], "paths": [],
}  # fmt: skip
ANSWER = '<article class="answer"><h1>Why?</h1><p>Since it melts.</p></article>'
SEARCH = "/search?graph=papers&q=Why%3F&how=local"
LIVE = "/api/jobs/live"
JOB: dict[str, Any] = {
    "job": "b000000000001", "graph": "papers", "kind": "ingest", "state": "running",
    "events": f"{LIVE}/b000000000001/events", "record": None,
}  # fmt: skip


@pytest.fixture
def scripted() -> ScriptedServer:
    """A server that finds a node, and answers from it."""
    return ScriptedServer(
        {
            "/api/search": FOUND, RUNS: {"run": RUN["run"]}, ONE: RUN,
            f"{ONE}/answer.fragment": ANSWER,
            f"{ONE}/feedback": {"nodes": 1, "triplets": 0},
        },
        {f"{ONE}/events": [("text_streamed", {"text": "Since"}), ("answered", {})]},
    )  # fmt: skip


async def test_each_way_of_asking_says_what_it_costs(page: Page) -> None:
    await page.goto("/?graph=papers")
    told = page.locator("#costs")
    for choice, value, expected in (
        ("#mode", "full", "a call for each pass over a partition"),
        ("#mode", "search", "one call, or two if the search needs keywords"),
        ("#how", "naive", "It costs one call."),
        ("#how", "mix", "for the keywords, and for the answer"),
    ):
        await page.select_option(choice, value)
        assert expected in await told.inner_text()


async def test_continuing_shows_its_plan_before_anything_is_asked(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers = {"/api/plan": PLAN}
    await page.goto("/?graph=papers&session=s&mode=continue&question=Why%3F")
    await page.get_by_text("closest").wait_for()
    told = await page.get_by_label("Plan", exact=True).inner_text()
    for expected in (
        "1 to 4", "2 to 5, at most 50", "900 to 3,600, at most 40,000",
        "300 to 900, at most 70,000", "0.01 to 0.02, at most 0.90",
    ):  # fmt: skip
        assert expected in told
    assert scripted.bodies == [
        {
            "question": "Why?", "graph": "papers", "session": "s", "mode": "continue",
            "full_sweep": False,
        },
    ]  # fmt: skip
    await page.goto("/?graph=papers&question=Why%3F")
    await page.locator("#costs").get_by_text("Plan tells").wait_for()
    assert scripted.seen["POST /api/plan"] == 1
    assert scripted.seen["POST /api/runs"] == 0


async def test_what_a_search_found_is_answered_and_rated_in_its_view(
    page: Page, scripted: ScriptedServer
) -> None:
    await page.goto(SEARCH)
    await page.get_by_role("button", name="Answer from these").click()
    await page.get_by_text("Since it melts.").wait_for()
    assert scripted.bodies[-1] == {
        "question": "Why?", "graph": "papers", "answer_from": "search", "search_mode": "local",
    }  # fmt: skip
    await page.get_by_role("button", name="Useful").click()
    await page.get_by_text("Thank you.").wait_for()
    assert scripted.bodies[-1] == {"outcome": "accepted", "replace": True}
    await page.reload()
    await page.get_by_role("button", name="Useful").wait_for()
    assert scripted.seen[f"POST {RUNS}"] == 1, "the address names the run"
    assert await page.get_by_role("button", name="Sea ice").count() == 1


async def test_an_answer_that_costs_too_much_is_not_asked_for(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers["/api/me"] = {**OWNER, "confirm_cost": 1.0}
    scripted.answers["/api/search/plan"] = {"high": 5.0}
    await page.goto(SEARCH)
    await page.get_by_role("button", name="Answer from these").click()
    await page.get_by_text("This may cost 5.00, more than 1.00. Ask it?").wait_for()
    await page.get_by_role("button", name="No", exact=True).click()
    await (
        page.get_by_role("button", name="Answer from these")
        .and_(page.locator(":enabled"))
        .wait_for()
    )
    assert scripted.seen[f"POST {RUNS}"] == 0


async def test_a_reader_searches_and_asks_for_no_answer(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers["/api/me"] = {**OWNER, "role": "reader"}
    await page.goto(SEARCH)
    await page.get_by_role("button", name="Sea ice").wait_for()
    assert await page.get_by_role("button", name="Answer from these").count() == 0


async def test_a_job_is_followed_and_stopped_after_a_reload(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers = {"/api/jobs": [], LIVE: [JOB], f"{LIVE}/b000000000001": JOB}
    scripted.held[JOB["events"]] = asyncio.Event()
    scripted.streams[JOB["events"]] = [("cancelled", {"job": JOB["job"]})]
    await page.goto("/jobs?graph=papers")
    await page.get_by_text("ingest on papers").wait_for()
    await page.get_by_role("link", name="Follow it").click()
    await page.get_by_role("progressbar").wait_for()
    assert await page.get_by_role("link", name="Follow it").count() == 0
    await page.reload()
    await page.get_by_role("button", name="Stop the job").click()
    scripted.answers[LIVE] = []
    scripted.held[JOB["events"]].set()
    await page.get_by_text("What it had done by then stays.").wait_for()
    assert scripted.seen[f"DELETE {LIVE}/b000000000001"] == 1


async def test_a_job_that_was_started_is_followed_after_a_reload(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers = {"/api/jobs": lambda query: [] if query else JOB, LIVE: [JOB]}
    scripted.held[JOB["events"]] = asyncio.Event()
    scripted.streams[JOB["events"]] = [("ended", {"record": "j1"})]
    await page.goto("/jobs?graph=papers")
    await page.get_by_role("button", name="Repartition now").click()
    await page.wait_for_url("**live=b000000000001")
    await page.reload()
    await page.get_by_role("progressbar").wait_for()
    scripted.answers[LIVE] = []
    scripted.held[JOB["events"]].set()
    await page.get_by_text("The job has ended.").wait_for()
    assert scripted.seen["POST /api/jobs"] == 1


def view_of(*labels: str) -> dict[str, Any]:
    """A proposal for some labels, as the server sends it."""
    return {
        "labels": [*labels], "text": [f"{labels[0]}.text"], "titles": [f"{labels[0]}.name"],
        "title": None, "keys": [], "key": "id",
    }  # fmt: skip


def database(*domains: tuple[str, ...]) -> dict[str, Any]:
    """What the server says of a database with some domains."""
    every = [label for domain in domains for label in domain]
    told = [{"labels": [*one], "mapping": view_of(*one)} for one in domains]
    return {
        "nodes": 9, "relationships": 4, "labels": [], "mapping": view_of(*every), "domains": told,
    }  # fmt: skip


async def test_each_part_of_a_database_prefills_the_form_with_its_own_labels(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers |= {
        "/api/graphs": [],
        "/api/inspect": database(("Film", "Actor"), ("A", "B", "C", "D", "E", "F")),
    }
    await page.goto("/graphs")
    await page.get_by_role("button", name="See what the database holds").click()
    labels, part = (
        page.get_by_role("textbox", name="Labels"),
        page.get_by_label("Part of the database"),
    )
    assert await labels.input_value() == "Film, Actor"
    assert await part.locator("option").all_inner_texts() == [
        "Film, Actor",
        "A, B, C, D, and 2 more",
        "all of the database",
    ]
    await part.select_option(index=1)
    assert await labels.input_value() == "A, B, C, D, E, F"
    assert await page.get_by_label("Titles").input_value() == "A.name"
    assert await page.get_by_label("Properties with text").input_value() == "A.text"
    await part.select_option(index=2)
    assert await labels.input_value() == "Film, Actor, A, B, C, D, E, F"


async def test_a_database_of_one_part_has_no_choice_of_parts(
    page: Page, scripted: ScriptedServer
) -> None:
    scripted.answers |= {"/api/graphs": [], "/api/inspect": database(("Film", "Actor"))}
    await page.goto("/graphs")
    await page.get_by_role("button", name="See what the database holds").click()
    assert await page.get_by_role("textbox", name="Labels").input_value() == "Film, Actor"
    assert await page.get_by_label("Part of the database").count() == 0
