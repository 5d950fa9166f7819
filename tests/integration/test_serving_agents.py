"""Agents over HTTP by the client of the SDK: tools, progress, ends, and who sees what."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from mcp.client import Client

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.mcp_server import transport
from pgs_neo4j.mcp_server.questions import TICK_S
from pgs_neo4j.model import GraphMapping, Prompt
from tests.agents import agent
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import Held, Served, entry, events, served
from tests.waiting import until

QUESTION = "What do the papers say about sleep?"
PRICES = {"scripted": {"input_price": 1.0, "output_price": 1.0}}
READS = {"graphs", "partitions", "node", "findings_on_node", "read_cypher", "result"}
WRITES = {"plan", "ask", "continue_reading", "cancel"}
ERAS = pytest.mark.parametrize("era", ["auto", pytest.param("legacy", marks=pytest.mark.thorough)])

OPENING = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}  # fmt: skip


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    tokens = [
        entry("ann", "papers"), entry("bob", "papers"), entry("cleo", "other"),
        entry("eve", "papers", role="reader"), entry("one", "papers", runs=1),
        entry("poor", "papers", cost_per_day=1e-9),
    ]  # fmt: skip
    async with engine_on_papers(endpoint, db, token=tokens, models=PRICES) as opened:
        await opened.graphs.add("other", GraphMapping(labels=("Paper",), text=("abstract",)))
        await opened.partitions.build("papers")
        yield opened


async def call(connected: Client, tool: str, **arguments: Any) -> Any:
    result = await connected.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refusal(connected: Client, tool: str, **arguments: Any) -> str:
    result = await connected.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)


async def _slowly(prompt: Prompt) -> str:
    await asyncio.sleep(2 * TICK_S)  # so that the progress is looked at in between
    return contract_reply(prompt)


@pytest.mark.thorough
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_every_tool_answers_over_http(pgs: PGS, server: Served, era: str) -> None:
    pgs.sweep_llm = ScriptedLLM(_slowly)
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async with agent(server, "ann", era) as ann, server.client("pgs_ann") as own:
        assert {tool.name for tool in (await ann.list_tools()).tools} == READS | WRITES
        assert [one["name"] for one in (await call(ann, "graphs"))["graphs"]] == ["papers"]
        assert (await call(ann, "plan", question=QUESTION))["graph"] == "papers"
        asked = {"question": QUESTION, "max_sweep_partitions": 2}
        reply = (await ann.call_tool("ask", asked, progress_callback=hear)).structured_content
        assert reply["state"] == "complete"
        assert heard[0] == "accepted"
        assert len(set(heard)) > 1
        node = {"element_id": reply["from_model"]["citations"][0]["element_id"]}
        assert (await call(ann, "findings_on_node", **node))["findings"][0]["run"] == reply["run"]
        assert (await call(ann, "node", **node))["partition"] is not None
        assert (await call(ann, "partitions"))["partition_count"] == 4
        again = await call(ann, "result", run=reply["run"])
        assert again["from_model"] == reply["from_model"]
        rest = await call(ann, "continue_reading")
        assert rest["coverage"]["partitions_read"] == 4
        stopped = await call(ann, "cancel", run=rest["run"])
        assert stopped["state"] == "complete", "what has ended stays as it is"
        text = (await ann.read_resource(f"pgs://runs/{reply['run']}")).contents[0].text
        assert QUESTION in text
        listed = (await own.get("/api/runs")).json()
        assert {run["run"] for run in listed} == {reply["run"], rest["run"]}
        names = [one.name for one in await events(own, f"/api/runs/{reply['run']}/events")]
        assert (names[0], names[-1]) == ("accepted", "answered")


@pytest.mark.thorough
@ERAS
async def test_a_call_that_is_given_up_cancels_its_run_which_can_be_resumed(
    pgs: PGS, server: Served, era: str
) -> None:
    gate = Held(pgs)
    async with agent(server, "ann", era) as ann, server.client("pgs_ann") as own:
        asked = {"question": QUESTION, "wait_s": 60}
        waiting = asyncio.create_task(ann.call_tool("ask", asked))
        await gate.asked.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
        ((run,)) = [one["run"] for one in (await own.get("/api/runs")).json()]

        async def interrupted() -> bool:
            shown = (await own.get(f"/api/runs/{run}")).json()
            return bool(shown["state"] == "interrupted")

        await until(interrupted, 60)
        gate.go.set()
        resumed = await call(ann, "continue_reading", run=run)
        assert (resumed["run"], resumed["state"]) == (run, "complete")


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_a_canceled_request_gets_no_response_and_its_connection_stays(
    pgs: PGS, server: Served, version: str
) -> None:
    gate = Held(pgs)
    headers = {"Accept": "application/json, text/event-stream"}
    async with server.client("pgs_ann") as ann:
        ann.headers.update(headers)
        opened = await ann.post("/mcp", json=initialization(version))
        assert sent(opened.text)["result"]["protocolVersion"] == version
        ann.headers.update(
            {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": version}
        )
        await ann.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        asked = {"name": "ask", "arguments": {"question": QUESTION, "wait_s": 60}}
        body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": asked}
        waiting = asyncio.create_task(ann.post("/mcp", json=body))
        await gate.asked.wait()
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 7}}
        told = await ann.post("/mcp", json={"jsonrpc": "2.0", **cancel})
        assert told.status_code == 202
        ended = await waiting
        assert (ended.status_code, "error" in ended.text, "result" in ended.text) == (
            200, False, False,
        )  # fmt: skip
        listed = await ann.post("/mcp", json={"jsonrpc": "2.0", "id": 8, "method": "tools/list"})
        assert sent(listed.text)["id"] == 8
        ((run,)) = [one["run"] for one in (await ann.get("/api/runs")).json()]

        async def interrupted() -> bool:
            return bool((await ann.get(f"/api/runs/{run}")).json()["state"] == "interrupted")

        await until(interrupted, 60)
    gate.go.set()


def initialization(version: str) -> dict[str, Any]:
    """The first request of a client of an older version."""
    client = {"name": "raw", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def sent(stream: str) -> dict[str, Any]:
    """The last message of a stream of events."""
    data = [line[5:] for line in stream.splitlines() if line.startswith("data:")]
    return dict(json.loads(data[-1]))


async def test_limits_of_a_token_hold_for_agents(pgs: PGS, server: Served) -> None:
    gate = Held(pgs)
    async with agent(server, "one") as one:
        first = await call(one, "ask", question=QUESTION, wait_s=0)
        assert "one has 1 run in progress" in await refusal(one, "ask", question=QUESTION)
        stopped = await call(one, "cancel", run=first["run"])
        assert stopped["state"] == "interrupted"
    gate.go.set()
    async with agent(server, "poor") as poor:
        assert "cost" in await refusal(poor, "ask", question=QUESTION)
    async with agent(server, "eve") as eve:
        assert "needs the role asker" in await refusal(eve, "ask", question=QUESTION)
        assert "needs the role asker" in await refusal(eve, "plan", question=QUESTION)
        assert (await call(eve, "partitions"))["partition_count"] == 4


async def test_a_connection_belongs_to_the_caller_that_opened_it(server: Served) -> None:
    accept = {"Accept": "application/json, text/event-stream"}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    async with server.client("pgs_ann") as ann, server.client("pgs_bob") as bob:
        opened = await ann.post("/mcp", json=OPENING, headers=accept)
        assert opened.status_code == 200
        known = accept | {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert (await bob.post("/mcp", json=listing, headers=known)).status_code == 404
        assert (await bob.delete("/mcp", headers=known)).status_code == 404
        assert (await ann.post("/mcp", json=listing, headers=known)).status_code == 200


async def test_one_caller_opens_so_many_connections_and_keeps_no_other_out(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MOST_CONNECTIONS", 8)
    accept = {"Accept": "application/json, text/event-stream"}
    async with server.client("pgs_ann") as ann, server.client("pgs_bob") as bob:

        async def open_one(caller: httpx2.AsyncClient) -> httpx2.Response:
            return await caller.post("/mcp", json=OPENING, headers=accept)

        at_once = await asyncio.gather(*(open_one(ann) for _ in range(5)))
        opened = [one for one in at_once if one.status_code == 200]
        assert 1 <= len(opened) <= 2
        while len(opened) < 2:
            opened.append(await open_one(ann))
            assert opened[-1].status_code == 200
        refused = await open_one(ann)
        assert refused.status_code == 503
        assert "2 open sessions, which is the most for one caller" in refused.text
        assert (await open_one(bob)).status_code == 200
        known = accept | {"Mcp-Session-Id": opened[0].headers["mcp-session-id"]}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        assert (await ann.post("/mcp", json=listing, headers=known)).status_code == 200
        assert (await ann.delete("/mcp", headers=known)).status_code == 200
        assert (await open_one(ann)).status_code == 200


async def test_a_server_that_only_reads_offers_agents_nothing_that_asks(pgs: PGS) -> None:
    async with served(pgs, read_only=True) as server, agent(server, "ann") as ann:
        assert {tool.name for tool in (await ann.list_tools()).tools} == READS
        assert "Unknown tool" in await refusal(ann, "ask", question=QUESTION)


@ERAS
async def test_stopping_ends_connections_and_leaves_runs_to_be_resumed(pgs: PGS, era: str) -> None:
    gate = Held(pgs)
    async with served(pgs) as server:

        async def ask() -> None:
            async with agent(server, "ann", era) as ann:
                await ann.call_tool("ask", {"question": QUESTION})

        asking = asyncio.create_task(ask())
        await gate.asked.wait()
        server.task.cancel()
        await asyncio.wait([server.task], timeout=60)
        assert server.task.done()
        await asyncio.wait([asking], timeout=60)
        assert asking.done()
        asking.exception()  # the client may want more of a server that is gone
        (info,) = await pgs.runs("papers")
        assert info.status == "interrupted"
