"""Secrets stand in no answer, event, metric, span, or log, even if an endpoint quotes them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from tests.agents import agent
from tests.conftest import Endpoint
from tests.engines import with_model
from tests.fakes.openai_server import Answer, FakeOpenAI, Status, contract_answer
from tests.graphs import papers
from tests.openapi import operations, send
from tests.serving import Served, entry, events, served
from tests.tracing import trace_with

KEY = "sk-canary-0123456789abcdefghij"
TOKEN = "pgs_ann"
ENTRY = entry("ann", role="operator")
PAGES = ("/", "/app.js", "/run?id=x", "/manual", "/manual/settings", "/metrics")


async def ask(own: httpx2.AsyncClient, question: str) -> tuple[str, str]:
    """Ask a question; returns the run, and its events as a text."""
    body = {"question": question, "graph": "papers", "full_sweep": True}
    run = (await own.post("/api/runs", json=body)).raise_for_status().json()
    heard = await events(own, run["events"])
    return run["run"], str([(one.name, one.data) for one in heard])


async def told(own: httpx2.AsyncClient, runs: list[str]) -> AsyncIterator[str]:
    """What the server tells a caller who may see all of it."""
    for run in runs:
        values: dict[str, Any] = {"run": run, "partition": 1, "session": "default"}
        for kind in ("html", "fragment", "md", "json"):
            for method, path, described in operations():
                asked = method == "get" and ("{kind}" in path or kind == "json")
                if asked or path in ("/api/plan", "/api/search"):
                    yield (await send(own, method, path, described, {**values, "kind": kind})).text
    for path in PAGES:
        yield (await own.get(path)).text
    chat = {"model": "papers", "messages": [{"role": "user", "content": "Why is it so?"}]}
    yield (await own.post("/v1/chat/completions", json=chat)).text


async def told_agents(server: Served, runs: list[str]) -> AsyncIterator[str]:
    """What agents are told, also of a question that fails."""
    async with agent(server, "ann") as connected:
        for run in runs:
            yield str(await connected.call_tool("result", {"run": run}))
        yield str(await connected.call_tool("graphs", {}))
        yield str(await connected.call_tool("ask", {"question": "Why then?", "graph": "papers"}))


@pytest.mark.thorough
async def test_secrets_stand_in_no_answer_event_metric_span_or_log(
    endpoint: Endpoint,
    db: Database,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    traced = trace_with(monkeypatch)
    caplog.set_level("DEBUG", "pgs_neo4j")
    mapping, texts = await papers(db), list[str]()
    refusal = Status(401, message=f"Incorrect API key provided: {KEY}.")
    with FakeOpenAI(default=Answer(contract_answer)) as fake:
        async with with_model(endpoint, fake, llm_api_key=KEY, token=[ENTRY]) as pgs:
            await pgs.graphs.add("papers", mapping)
            async with served(pgs) as server, server.owner() as owner:
                (cookie,) = owner.cookies.values()
                async with server.client(TOKEN) as own:
                    answered, heard = await ask(own, "Why?")
                    fake.default = refusal
                    failed, heard_failed = await ask(own, "Why not?")
                    runs, texts = [answered, failed], [heard, heard_failed]
                    assert "('answered'" in heard
                    assert "('failed'" in heard_failed
                    texts += [text async for text in told(own, runs)]
                    texts += [text async for text in told_agents(server, runs)]
                texts += [text async for text in told(owner, runs)]
        assert any(KEY in str(one.headers) for one in fake.chats)
    assert traced.spans
    secrets = {KEY, TOKEN, str(ENTRY["sha256"]), server.token, cookie, endpoint.password or KEY}
    told_all = [*texts, traced.text(), caplog.text]
    assert [text[:300] for text in told_all for secret in secrets if secret in text] == []
