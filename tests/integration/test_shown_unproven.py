"""The third word beside read and unread, and what models can take, wherever runs are shown."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from pgs_neo4j.cli.commands.runs import _describe, _listed_properties
from pgs_neo4j.cli.pages import answer_page, as_json, plan_page
from pgs_neo4j.cli.pages.runs_page import run_lines
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.events import ContextsKnown, Event
from pgs_neo4j.export import AreaState, to_html, to_json, to_markdown
from pgs_neo4j.llm.context import UNKNOWN
from pgs_neo4j.mcp_server.server import create_server
from pgs_neo4j.mcp_server.service import McpService
from tests.conftest import Endpoint
from tests.database import fetch
from tests.engines import model_on_papers
from tests.fakes.commands import on_one_line
from tests.fakes.openai_server import Answer, FakeOpenAI, contract_answer
from tests.fakes.windows import Window
from tests.serving import events, served

NOTE = "80 shown, unproven"
LINE = "0 of 80 nodes (80 more shown, unproven)"
CONTEXTS = {"reader": "30,000 tokens (from [models] in pgs.toml)", "writer": UNKNOWN}
RANGES = """
MATCH (r:PgsRun)-[:PGS_SWEPT]->(w:PgsSweep)
RETURN r.nodes_unproven AS run, w.nodes_unproven AS nodes, w.read_first AS read,
       w.unproven_first AS first, w.unproven_last AS last
"""


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine whose endpoint counts no tokens, and whose model repeats no codes."""
    with FakeOpenAI(default=Answer(contract_answer)) as fake:
        fake.refuse = Window(10**6, repeats=False, count=lambda tokens: None)
        models = {"reader": {"context": 30_000}}
        async with model_on_papers(endpoint, db, fake, topics=2, models=models) as opened:
            yield opened


async def test_what_was_shown_without_proof_is_neither_read_nor_unread_anywhere(
    pgs: PGS, db: Database
) -> None:
    heard: list[Event] = []
    answer = await pgs.execute("Why?", full_sweep=True, on_event=heard.append)
    assert [dict(one.contexts) for one in heard if isinstance(one, ContextsKnown)] == [CONTEXTS]
    assert (answer.coverage.nodes_read, answer.coverage.nodes_unproven) == (0, 80)
    assert await pgs.runs.answer(answer.run) == answer

    rows = await fetch(db, RANGES)
    for row in rows:
        spans = zip(row["first"], row["last"], strict=True)
        assert sum(last - first for first, last in spans) == row["nodes"] > 0
        assert (row["run"], row["read"]) == (80, [])
    assert sum(row["nodes"] for row in rows) == 80

    document = await pgs.runs.document(answer.run)
    assert {area.state for area in document.areas} == {AreaState.UNPROVEN}
    told = json.loads(to_json(document))
    assert (told["coverage"]["nodes_unproven"], told["contexts"]) == (80, CONTEXTS)
    assert {area["nodes"]: area["nodes_unproven"] for area in told["areas"]} == {20: 20}
    for text in (to_html(document), to_markdown(document)):
        assert LINE in text
        assert "0 of 20 nodes read, 20 shown, unproven" in text
        assert "30,000 tokens (from " in text
    below = on_one_line("\n".join(answer_page.below(answer, 200)))
    assert LINE in below
    assert f"Context reader: {CONTEXTS['reader']} / writer: {UNKNOWN}" in below

    (run,) = await pgs.sessions.runs("default", "papers")
    assert NOTE in "\n".join(_describe(run))
    assert (_listed_properties(run)["nodes_unproven"], run["sweeps"][0]["nodes_unproven"]) == (
        80,
        20,
    )
    assert NOTE in run_lines(await pgs.runs("papers"), 80)[0]
    (info,) = await pgs.sessions("papers")
    assert as_json.session(info)["coverage"]["nodes_unproven"] == 80
    assert await pgs.browse.nodes_read("papers", "default") == {}

    async with served(pgs) as server, server.owner() as client:
        await _look(client, answer.run)
    async with Client(create_server(McpService(pgs))) as agent:
        result = (await agent.call_tool("result", {"run": answer.run})).structured_content
        plan = (await agent.call_tool("plan", {"question": "Why?"})).structured_content
    assert (result["coverage"]["nodes_read"], result["coverage"]["nodes_unproven"]) == (0, 80)
    assert result["contexts"] == plan["contexts"] == CONTEXTS


async def _look(client: Any, run: str) -> None:
    """Look at a run of 80 nodes in four partitions over HTTP, and ask once more."""

    async def get(path: str) -> Any:
        return (await client.get(f"/api/{path}")).raise_for_status().json()

    reading = await get("graphs/papers/read")
    assert [(one["nodes_read"], one["nodes_unproven"]) for one in reading] == [(0, 20)] * 4
    session = await get("graphs/papers/sessions/default")
    assert (session["coverage"]["nodes_unproven"], session["runs"][0]["nodes_unproven"]) == (80, 80)
    assert (await get("runs"))[0]["nodes_unproven"] == 80
    record = await get(f"runs/{run}")
    assert [sweep["nodes_unproven"] for sweep in record["sweeps"]] == [20] * 4
    assert (await get(f"runs/{run}/reports/1"))["nodes_unproven"] == 20
    asked = {"question": "Why not?", "graph": "papers", "full_sweep": True}
    begun = (await client.post("/api/runs", json=asked)).json()
    told = {one.name: one.data for one in await events(client, begun["events"])}
    assert told["contexts"] == {"contexts": CONTEXTS}
    assert told["answered"]["coverage"]["nodes_unproven"] == 80
    planned = (await client.post("/api/plan", json=asked)).json()
    assert (planned["contexts"], planned["context_advice"]) == (CONTEXTS, [])
    del asked["full_sweep"]
    planned = (await client.post("/api/search/plan", json=asked)).json()
    assert planned["contexts"] == {"writer": UNKNOWN}


async def test_every_plan_says_what_its_models_can_take(pgs: PGS, tmp_path: Path) -> None:
    plan = await pgs.plan("Why?")
    assert as_json.plan(plan, [])["contexts"] == CONTEXTS
    shown = "\n".join(plan_page.below(plan, [], 200))
    assert f"Context   reader: {CONTEXTS['reader']}\nContext   writer: {UNKNOWN}" in shown
    search = await pgs.search.plan("clay", graph="papers", mode="mix")
    assert as_json.search_plan(search, [])["contexts"] == CONTEXTS
    below = "\n".join(plan_page.search_lines(search, [], 200))
    assert all(f"Context   {name}: {text}" in below for name, text in CONTEXTS.items())
    found = await pgs.search("clay", graph="papers", answer=True)
    assert found.answer is not None
    assert dict(found.answer.contexts) == {"writer": UNKNOWN}

    (tmp_path / "fine.md").write_text("Marie Curie met Pierre Curie.\n")
    ingest = await pgs.ingest.plan(tmp_path, "docs")
    assert plan_page.ingestion_json(ingest)["contexts"] == {"reader": CONTEXTS["reader"]}
    lines = "\n".join(plan_page.ingestion_lines(ingest, [], 200))
    assert f"Context reader: {CONTEXTS['reader']}" in on_one_line(lines)


async def test_plans_and_the_doctor_say_what_models_of_texts_read(
    endpoint: Endpoint, db: Database, tmp_path: Path
) -> None:
    (tmp_path / "fine.md").write_text("Marie Curie met Pierre Curie.\n")
    with FakeOpenAI(default=Answer(contract_answer)) as fake:
        fake.pages["/info"] = {"max_input_length": 512, "auto_truncate": False}
        settings: dict[str, Any] = {
            "models": {"embeds": {"context": 700}},
            "rerank_base_url": fake.base_url,
            "rerank_model": "ranks",
            "embedder": "openai",
            "embedding_model": "embeds",
        }
        async with model_on_papers(endpoint, db, fake, topics=1, **settings) as opened:
            plan = await opened.plan("Why?")
            search = await opened.search.plan("clay", graph="papers", rerank="http")
            ingest = await opened.ingest.plan(tmp_path, "docs", embed=True)
            doctor = {one.name: one.detail for one in await opened.doctor()}
    for contexts in (plan.contexts, search.contexts, ingest.contexts):
        assert "tokens of a text; longer ones in pieces, whose" in dict(contexts)["embeds"]
        assert dict(contexts)["writer" if contexts is search.contexts else "reader"] == UNKNOWN
    best = dict(search.contexts)["ranks"]
    assert best.endswith("tokens of a text; longer ones in pieces, of which the best one counts")
    assert doctor["reranker"] == f"ranks; it reads {best}"
    assert doctor["embedder"].endswith(f"; it reads {dict(ingest.contexts)['embeds']}")


async def test_small_contexts_come_with_what_to_do(pgs: PGS, tmp_path: Path) -> None:
    entry = pgs.settings.models["reader"].model_copy(update={"context": 4_096})
    pgs.settings = pgs.settings.model_copy(update={"models": {"reader": entry}})
    plan = await pgs.plan("Why?")
    (advice,) = plan.context_advice
    assert advice.startswith("reader takes 4,096 tokens per call")
    assert as_json.plan(plan, [])["context_advice"] == [advice]
    (tmp_path / "fine.md").write_text("Marie Curie met Pierre Curie.\n")
    ingest = await pgs.ingest.plan(tmp_path, "docs")
    assert ingest.context_advice == (advice,)
    assert advice in on_one_line("\n".join(plan_page.ingestion_lines(ingest, [], 80)))
