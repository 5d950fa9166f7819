"""Three tenants with a canary each: whatever way one looks, it finds no canary of the others."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine import metrics as graph_metrics
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import GraphMapping, Prompt
from tests.agents import agent
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on_papers
from tests.openapi import operations, send
from tests.serving import Served, entry, events

TENANTS = {"ann": "papers", "bob": "papers", "cleo": "canarygraph"}
"""Two share a graph; the name of the third graph is a canary itself."""
PAIRS = [("ann", "ann"), ("ann", "bob"), ("bob", "cleo"), ("cleo", "ann"), ("bob", "bob")]
"""Who looks for what belongs to whom."""
SHARED = "agents"
"""A session of each, by the same name."""
SEEN = {
    *("/api/runs", "/api/runs/{run}", "/api/runs/{run}/events", "/api/runs/{run}/answer.{kind}"),
    *("/api/sessions", "/api/graphs/{graph}/sessions/{session}", "/api/cost", "/api/search"),
    *("/api/runs.{form}", "/api/runs/{run}/tables/{table}.{form}"),
    *("/api/graphs/{graph}/nodes/{node}/findings", "result", "page", "continue_reading"),
}
"""Some of the ways on which a tenant finds its own."""
KINDS = ("html", "fragment", "md", "json")
TABLES = ("findings", "absences", "connections", "coverage", "sources")
LOOKS = {"/api/plan", "/api/search", "/api/search/plan", "/api/cypher"}
"""Requests that are sent and only look."""
MODES = ("global", "mix", "multipath")
"""Searches that look at earlier findings as well."""


def canary(name: str) -> str:
    return f"canary{name}"


def hidden(name: str) -> set[str]:
    """What a tenant must not find."""
    graphs = {graph for graph in TENANTS.values() if graph != TENANTS[name]} - {"papers"}
    return {canary(other) for other in TENANTS if other != name} | graphs


def reply(prompt: Prompt) -> str:
    """A reply whose findings, thesis, and gaps have the canary of the question."""
    said = next((word for word in prompt.question.split() if word.startswith("canary")), "none")
    text = contract_reply(prompt)
    for part in ("says something", "nodes were read", "partitions agree", "unicorns"):
        text = text.replace(part, f"{part} {said}")
    return text


@pytest.fixture
async def pgs(
    endpoint: Endpoint, db: Database, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PGS]:
    monkeypatch.setattr(graph_metrics, "FRESH_S", 0.0)
    tokens = [entry(name, graph) for name, graph in TENANTS.items()]
    tokens += [entry(f"{name}s", graph, role="metrics") for name, graph in TENANTS.items()]
    await alter(
        db,
        "UNWIND range(1, 12) AS n CREATE (v:Vault {text: 'orbital debris canarycleo ' + n}) "
        "WITH collect(v) AS all UNWIND range(0, 10) AS n "
        "WITH all[n] AS a, all[n + 1] AS b CREATE (a)-[:CITES]->(b)",
    )
    async with engine_on_papers(endpoint, db, token=tokens) as opened:
        opened.sweep_llm, opened.synthesis_llm = ScriptedLLM(reply), ScriptedLLM(reply)
        await opened.graphs.add("canarygraph", GraphMapping(labels=("Vault",), text=("text",)))
        for graph in ("papers", "canarygraph"):
            await opened.partitions.build(graph)
        yield opened


async def ask(server: Served, name: str) -> list[str]:
    """Ask over HTTP, as an agent, and in a chat; returns the runs."""
    question, session = f"Why {canary(name)} ?", canary(name)
    async with server.client(f"pgs_{name}") as own:
        body = {"question": question, "session": session, "full_sweep": True}
        run = (await own.post("/api/runs", json=body)).raise_for_status().json()
        await events(own, run["events"])
        chat = {"model": TENANTS[name], "messages": [{"role": "user", "content": question}]}
        said = (await own.post("/v1/chat/completions", json=chat)).raise_for_status().json()
        assert canary(name) in said["choices"][0]["message"]["content"]
    async with agent(server, name) as connected:
        asked = {"question": question, "session": SHARED}
        told = (await connected.call_tool("ask", asked)).structured_content
    return [run["run"], said["id"].removeprefix("chatcmpl-"), told["run"]]


async def over_http(
    own: httpx2.AsyncClient, values: Mapping[str, Any], part: str = ""
) -> AsyncIterator[tuple[str, str]]:
    """Whatever the API tells about these values, by the paths with a part."""
    for method, path, described in operations():
        wanted = part in path and (method == "get" or path in LOOKS)
        for more in _variants(path) if wanted else ():
            yield path, (await send(own, method, path, described, {**values, **more})).text


def _variants(path: str) -> list[dict[str, str]]:
    """Values that an operation is tried with, one after the other."""
    if "{kind}" in path:
        return [{"kind": kind} for kind in KINDS]
    if "{table}" in path:
        return [{"table": table, "form": "csv"} for table in TABLES]
    if "{form}" in path:
        return [{"form": "csv"}]
    if path.startswith("/api/search"):
        return [{"mode": mode, "search_mode": mode} for mode in MODES]
    return [{}]


async def of_models(own: httpx2.AsyncClient, graph: str) -> AsyncIterator[tuple[str, str]]:
    """Whatever the form of OpenAI tells of a graph."""
    for path in ("/v1/models", f"/v1/models/{graph}", f"/v1/models/{graph}:auto"):
        yield path, (await own.get(path)).text
    chat = {"model": f"{graph}:global", "messages": [{"role": "user", "content": "Why?"}]}
    yield "/v1/chat", (await own.post("/v1/chat/completions", json=chat)).text


async def of_runs(connected: Any, runs: list[str]) -> AsyncIterator[tuple[str, str]]:
    """Whatever agents are told about some runs."""
    for run in runs:
        for tool in ("result", "cancel"):
            yield tool, str(await connected.call_tool(tool, {"run": run}))
        yield "page", await page_of(connected, f"runs/{run}")


async def of_graph(connected: Any, values: Mapping[str, Any]) -> AsyncIterator[tuple[str, str]]:
    """Whatever agents are told about a graph, a node, and a session."""
    graph, node = values["graph"], {"element_id": values["node"]}
    calls = (
        ("graphs", {}), ("partitions", {}), ("partitions", {"partition": 1}),
        ("node", node), ("findings_on_node", node), ("plan", {"question": "Why?"}),
        ("continue_reading", {"session": values["session"]}),
    )  # fmt: skip
    for tool, given in calls:
        asked = given if tool == "graphs" else {"graph": graph, **given}
        yield tool, str(await connected.call_tool(tool, asked))
    for page in (f"graphs/{graph}/runs", f"graphs/{graph}/partitions/1"):
        yield "page", await page_of(connected, page)


async def page_of(connected: Any, page: str) -> str:
    try:
        return str(await connected.read_resource(f"pgs://{page}"))
    except MCPError as error:
        return str(error)


async def cited_node(pgs: PGS, graph: str) -> str:
    """The element id of a node that every answer cites."""
    return (await pgs.browse.members(graph, 1)).members[0].element_id


def crossed(found: list[tuple[str, str]], name: str, asked: Mapping[str, Any]) -> list[str]:
    """The ways on which a canary of others came; what was asked for is no answer."""
    values = [str(value) for value in asked.values()]
    told = []
    for way, text in found:
        rest = text
        for value in (*values, *(json.dumps(value)[1:-1] for value in values)):
            rest = rest.replace(value, "")
        told += [f"{way}: {rest[:200]}" for one in hidden(name) if one in rest]
    return told


async def look(
    server: Served, connected: Any, name: str, values: dict[str, Any], runs: list[str]
) -> list[tuple[str, str]]:
    """Everything that a tenant can learn of some runs, and of where they were asked."""
    async with server.client(f"pgs_{name}") as own:
        found = [one async for one in over_http(own, {**values, "run": runs[0]})]
        for run in runs[1:]:
            found += [one async for one in over_http(own, {**values, "run": run}, "{run}")]
        found += [one async for one in of_models(own, values["graph"])]
    found += [one async for one in of_runs(connected, runs)]
    return found + [one async for one in of_graph(connected, values)]


async def check_own(own: httpx2.AsyncClient, name: str, runs: dict[str, list[str]]) -> None:
    """Look at the lists of a tenant; what belongs to others can be neither ended nor resumed."""
    session = canary(name)
    listed = (await own.get("/api/runs")).json()
    assert {run["run"] for run in listed} == {*runs[name]}
    (newest,) = (await own.get("/api/runs?limit=1")).json()
    assert newest["run"] == runs[name][-1], "of the caller, not of all"
    named = (await own.get("/api/runs", params={"session": session})).json()
    assert [run["run"] for run in named] == runs[name][:1]
    sessions = {one["session"]: one["runs"] for one in (await own.get("/api/sessions")).json()}
    assert (sessions[session], sessions[SHARED], len(sessions)) == (1, 1, 3)
    assert {one["session"] for one in (await own.get("/api/cost")).json()} == sessions.keys()
    assert [one["name"] for one in (await own.get("/api/graphs")).json()] == [TENANTS[name]]
    for other in TENANTS.keys() - {name}:
        for run in runs[other]:
            assert (await own.delete(f"/api/runs/{run}")).status_code == 404
            assert (await own.post(f"/api/runs/{run}/resume", json={})).status_code == 404
    for path in ("/api/graphs/nothing", "/api/sessions?graph=nothing"):
        missing = await own.get(path)
        assert missing.status_code == 404
        assert TENANTS[name] not in missing.text


@pytest.mark.thorough
async def test_canaries_of_three_tenants_never_cross(server: Served, pgs: PGS) -> None:
    runs = {name: await ask(server, name) for name in TENANTS}
    for name in TENANTS:
        async with server.client(f"pgs_{name}") as own:
            await check_own(own, name, runs)
        async with server.client(f"pgs_{name}s") as scraper:
            found = [("/metrics", (await scraper.get("/metrics")).raise_for_status().text)]
        assert crossed(found, name, {}) == []
        async with agent(server, name) as connected:
            for other, graph in TENANTS.items():
                if (name, other) not in PAIRS:
                    continue
                values = {
                    "graph": graph, "session": canary(other), "partition": 1, "q": canary(other),
                    "question": "orbital debris", "node": await cited_node(pgs, graph),
                }  # fmt: skip
                found = await look(server, connected, name, values, runs[other])
                assert crossed(found, name, values) == [], (name, other)
                if other == name:
                    ways = {way for way, text in found if canary(name) in text}
                    assert ways >= SEEN, ways
