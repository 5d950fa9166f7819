"""What a program reads of a request whose form is wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from pgs_neo4j.web.access.callers import Caller
from tests.fakes.records import StoredGraphs
from tests.in_process import in_process, serving_of


@pytest.fixture
async def web() -> AsyncIterator[httpx2.AsyncClient]:
    serving = serving_of(SimpleNamespace(graphs=StoredGraphs()), Caller("ann", "operator", True))
    async with in_process(serving, "ann") as client:
        yield client


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/api/runs", {"question": "Why?", "qestion": 1}, "qestion is unknown; did you mean"),
        ("/api/runs", {}, "question is missing"),
        ("/api/runs", [], "the body must have named values, as an object in JSON"),
        ("/api/runs", {"question": 3}, "question must be a text"),
        ("/api/runs", {"question": "Why?", "max_calls": 0}, "max_calls must be at least 1"),
        ("/api/runs", {"question": "Why?", "max_calls": True}, "max_calls must be a whole number"),
        ("/api/runs", {"question": "Why?", "mode": "ful"}, "; did you mean 'full'?"),
        ("/api/runs", {"question": "Why?", "session": ""}, "session must not be empty"),
        ("/api/graphs", {"name": "g", "labels": []}, "labels: the list is empty; leave it out"),
        ("/api/graphs", {"name": "g", "labels": ["x" * 201]}, "labels.0 must have at most 200 cha"),
        ("/api/graphs", {"name": "g", "labls": []}, "labls is unknown; did you mean labels?"),
    ],
)
async def test_a_wrong_body_is_explained_in_our_words(
    web: httpx2.AsyncClient, path: str, body: Any, said: str
) -> None:
    refused = await web.post(path, json=body)
    told = refused.json()
    assert said in told["error"]
    assert (refused.status_code, told["code"]) == (422, "invalid")
    for foreign in ("Input should", "Extra inputs", "Field required", "String should", "Value err"):
        assert foreign not in refused.text


async def test_ids_say_what_they_look_like_and_parameters_what_they_are(
    web: httpx2.AsyncClient,
) -> None:
    refused = await web.get("/api/runs/secret")
    assert refused.json()["error"] == (
        "run must be the whole id of a run: r and 12 hexadecimal digits"
    )
    refused = await web.get("/api/runs", params={"limit": "many"})
    assert refused.json()["error"] == "limit must be a whole number"
    assert "many" not in refused.text
    assert "secret" not in refused.text


async def test_a_body_that_is_not_json_is_explained(web: httpx2.AsyncClient) -> None:
    headers = {"Content-Type": "application/json"}
    refused = await web.post("/api/runs", content=b'{"question": secret', headers=headers)
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("the body is not JSON that can be read (")
    assert "secret" not in refused.text


async def test_a_chat_names_the_part_and_no_type_that_was_tried(web: httpx2.AsyncClient) -> None:
    turn = {"role": "user", "content": 3}
    refused = await web.post("/v1/chat/completions", json={"model": "pgs/g", "messages": [turn]})
    told = refused.json()["error"]
    assert (refused.status_code, told["param"]) == (400, "messages.0.content")
    assert told["message"].startswith("messages.0.content must be a text")
