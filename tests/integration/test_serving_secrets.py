"""The key of a model stands in no answer, event, metric, or span, even if an endpoint quotes it."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.engines import with_model
from tests.fakes.openai_server import FakeOpenAI, Status
from tests.graphs import papers
from tests.openapi import operations, send
from tests.serving import events, served
from tests.tracing import trace_with

KEY = "sk-canary-0123456789abcdefghij"


async def test_a_model_key_stands_in_no_answer_event_metric_or_span(
    endpoint: Endpoint, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced = trace_with(monkeypatch)
    mapping = await papers(db)
    told = []
    with FakeOpenAI(default=Status(401, message=f"Incorrect API key provided: {KEY}.")) as fake:
        async with with_model(endpoint, fake, llm_api_key=KEY) as pgs:
            await pgs.add_graph("papers", mapping)
            async with served(pgs) as server, server.owner() as owner:
                body = {"question": "Why?", "graph": "papers", "full_sweep": True}
                run = (await owner.post("/api/runs", json=body)).json()
                told += [str(one.data) for one in await events(owner, run["events"])]
                values = {"run": run["run"], "kind": "json", "partition": 1, "session": "default"}
                for method, path, described in operations():
                    if method == "get":
                        told.append((await send(owner, method, path, described, values)).text)
                told.append((await owner.get("/metrics")).text)
        assert fake.chats
        assert all(KEY in str(one.headers) for one in fake.chats)
    assert traced.spans
    assert [text for text in (*told, traced.text()) if KEY in text] == []
