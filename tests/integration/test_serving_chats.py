"""Chats by OpenAI's own client: models, answers, streams, and errors in its form."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import GraphMapping, Prompt
from pgs_neo4j.web.chat import replies
from pgs_neo4j.web.chat.asking import Chats
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import Served, served

QUESTION = "What do the papers say about sleep?"
PRICES = {"scripted": {"input_price": 1.0, "output_price": 1.0}}


def entry(name: str, *graphs: str, **more: Any) -> dict[str, Any]:
    digest = sha256(f"pgs_{name}".encode()).hexdigest()
    return {"name": name, "sha256": digest, "graphs": list(graphs), **more}


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    tokens = [
        entry("ann", "papers"), entry("bob", "papers", runs=1), entry("cleo", "other"),
        entry("eve", "papers", role="reader"), entry("poor", "papers", cost_per_day=1e-9),
    ]  # fmt: skip
    async with engine_on_papers(endpoint, db, token=tokens, models=PRICES) as opened:
        await opened.add_graph("other", GraphMapping(labels=("Paper",), text=("abstract",)))
        await opened.partition("papers")
        yield opened


@pytest.fixture
async def server(pgs: PGS) -> AsyncIterator[Served]:
    async with served(pgs) as running:
        yield running


def client(server: Served, name: str, **options: Any) -> AsyncOpenAI:
    key = f"pgs_{name}"
    return AsyncOpenAI(base_url=f"{server.base}/v1", api_key=key, timeout=120, **options)


def said(question: str = QUESTION) -> list[Any]:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": question}]


class Gate:
    """A model that replies when the gate is open."""

    def __init__(self, pgs: PGS) -> None:
        self.open, self.asked, self.calls = asyncio.Event(), asyncio.Event(), 0
        pgs.sweep_llm = ScriptedLLM(self.answer)

    async def answer(self, prompt: Prompt) -> str:
        self.asked.set()
        self.calls += 1
        await self.open.wait()
        return contract_reply(prompt)


async def test_graphs_are_models(server: Served) -> None:
    async with client(server, "ann") as ann, client(server, "cleo") as cleo:
        names = [model.id async for model in await ann.models.list()]
        assert names == ["papers", "papers:continue", "papers:auto"]
        assert (await cleo.models.list()).data[0].id == "other"
        assert (await ann.models.retrieve("papers:hybrid")).id == "papers:hybrid"
        for missing in ("other", "papers:sideways", "nothing"):
            with pytest.raises(openai.NotFoundError) as caught:
                await ann.models.retrieve(missing)
            assert caught.value.code == "model_not_found"
            assert "GET /v1/models" in str(caught.value)


async def test_an_answer_has_its_sources_and_its_true_usage(pgs: PGS, server: Served) -> None:
    async with client(server, "ann") as ann, server.client("pgs_ann") as own:
        reply = await ann.chat.completions.create(
            model="papers", messages=said(), temperature=0.2, max_tokens=50, tools=[], n=1
        )
        (choice,) = reply.choices
        text = choice.message.content or ""
        assert (choice.finish_reason, choice.message.role) == ("stop", "assistant")
        assert text.startswith("## Thesis")
        assert "\n## Sources\n\n- P" in text
        assert "partitions agree [P" in text
        ((run,)) = (await own.get("/api/runs")).json()
        assert (reply.id, run["question"]) == (f"chatcmpl-{run['run']}", QUESTION)
        stored = await pgs.runs.answer(run["run"])
        assert reply.usage is not None
        assert reply.usage.prompt_tokens == stored.usage.input_tokens > 0
        assert reply.usage.completion_tokens == stored.usage.output_tokens > 0
        assert run["session"].startswith("chat-")


async def test_a_stream_tells_what_is_done_and_then_the_same_answer(server: Served) -> None:
    text, reasons, ends = "", "", list[Any]()
    async with client(server, "ann") as ann:
        stream = await ann.chat.completions.create(
            model="papers", messages=said(), stream=True, stream_options={"include_usage": True}
        )
        async for chunk in stream:
            if not chunk.choices:
                ends.append(chunk.usage)
                continue
            (choice,) = chunk.choices
            text += choice.delta.content or ""
            reasons += getattr(choice.delta, "reasoning_content", "")
            ends += [choice.finish_reason] if choice.finish_reason else []
        assert ends[0] == "stop"
        assert ends[1].total_tokens > 0
        assert "partitions to read." in reasons
        assert "accepted" in reasons
        whole = await ann.chat.completions.create(model="papers", messages=said())
    before = [one.partition("Run r")[0] for one in (text, whole.choices[0].message.content or "")]
    assert before[0] == before[1]
    assert "## Sources" in before[0]


async def test_a_conversation_is_a_session_that_can_be_continued(server: Served) -> None:
    async with client(server, "ann") as ann, server.client("pgs_ann") as own:
        first = await ann.chat.completions.create(model="papers", messages=said())
        turns = [*said(), {"role": "assistant", "content": first.choices[0].message.content}]
        more = [*turns, {"role": "user", "content": "And about memory?"}]
        second = await ann.chat.completions.create(model="papers:continue", messages=more)
        assert second.id != first.id
        named = await ann.chat.completions.create(
            model="papers", messages=said(), metadata={"session": "mine"}
        )
        runs = (await own.get("/api/runs")).json()
        sessions = {f"chatcmpl-{run['run']}": run["session"] for run in runs}
        assert sessions[first.id] == sessions[second.id] != sessions[named.id] == "mine"
        assert {run["question"] for run in runs} == {QUESTION, "And about memory?"}


async def test_a_search_answers_in_one_call(pgs: PGS, server: Served) -> None:
    async with client(server, "ann") as ann, server.client("pgs_ann") as own:
        reply = await ann.chat.completions.create(model="papers:hybrid", messages=said())
        assert "## Sources" in (reply.choices[0].message.content or "")
        (run,) = (await own.get("/api/runs")).json()
        assert (run["mode"], reply.id) == ("hybrid", f"chatcmpl-{run['run']}")


async def test_a_search_shows_no_finding_of_another_tenant(pgs: PGS, server: Served) -> None:
    shown: list[str] = []

    def read(prompt: Prompt) -> str:
        return contract_reply(prompt).replace("nodes were read", "nodes say canary")

    def write(prompt: Prompt) -> str:
        shown.append(prompt.content or prompt.user)
        return contract_reply(prompt)

    pgs.sweep_llm, pgs.synthesis_llm = ScriptedLLM(read), ScriptedLLM(write)
    question = "orbital debris"
    async with client(server, "ann") as ann, client(server, "bob") as bob:
        await ann.chat.completions.create(model="papers", messages=said(question))
        for own, seen in ((ann, True), (bob, False)):
            shown.clear()
            await own.chat.completions.create(model="papers:global", messages=said(question))
            assert ["canary" in text for text in shown] == [seen]


async def test_errors_have_the_form_of_openai(server: Served) -> None:
    async with client(server, "wrong") as nobody:
        with pytest.raises(openai.AuthenticationError) as refused:
            await nobody.models.list()
        assert refused.value.code == "invalid_api_key"
    async with client(server, "ann") as ann:
        for model, kind in (("other", openai.NotFoundError), ("nothing", openai.NotFoundError)):
            with pytest.raises(kind) as missing:
                await ann.chat.completions.create(model=model, messages=said())
            assert missing.value.code == "model_not_found"
            assert "papers" not in str(missing.value)
        picture: list[Any] = [{"type": "image_url", "image_url": {"url": "data:,"}}]
        tool: Any = {"type": "function", "function": {"name": "f"}}
        wrong: list[dict[str, Any]] = [
            {"n": 2}, {"tools": [tool]}, {"response_format": {"type": "json_object"}},
            {"messages": [{"role": "user", "content": picture}]},
            {"messages": [{"role": "assistant", "content": "Hi"}]},
            {"messages": said("  ")}, {"messages": said("### Task:\nGenerate a title")},
            {"messages": []},
        ]  # fmt: skip
        for given in wrong:
            asked: dict[str, Any] = {"model": "papers", "messages": said()} | given
            with pytest.raises(openai.UnprocessableEntityError) as invalid:
                await ann.chat.completions.create(**asked)
            assert invalid.value.type == "invalid_request_error"
    async with client(server, "eve") as eve:
        with pytest.raises(openai.PermissionDeniedError):
            await eve.chat.completions.create(model="papers", messages=said())
        assert [model.id async for model in await eve.models.list()]


async def test_who_has_no_money_left_is_told_once(server: Served) -> None:
    async with client(server, "poor") as poor, server.client("pgs_poor") as own:
        with pytest.raises(openai.APIStatusError) as spent:
            await poor.chat.completions.create(model="papers", messages=said())
        assert spent.value.code in ("insufficient_quota", "budget", "stopped")
        assert len((await own.get("/api/runs")).json()) <= 1, "the client does not try again"
        stream = await poor.chat.completions.create(model="papers", messages=said(), stream=True)
        with pytest.raises(openai.APIError, match="cost"):
            async for _ in stream:
                pass


async def test_a_client_that_leaves_loses_nothing_and_may_come_back(
    pgs: PGS, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies.ChatReplies, "__init__", _impatient(replies.ChatReplies.__init__))
    gate, joined = Gate(pgs), asyncio.Event()
    monkeypatch.setattr(Chats, "_repeated", _noting(Chats._repeated, joined))
    body = {"model": "papers", "messages": said(), "stream": True}
    async with server.client("pgs_bob") as own, client(server, "bob") as bob:
        pings = 0
        async with own.stream("POST", "/v1/chat/completions", json=body) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            async for line in stream.aiter_lines():
                pings += line == ": still working"
                if gate.asked.is_set() and pings > 1:
                    break
        with pytest.raises(openai.ConflictError, match="bob has 1 runs in progress"):
            await bob.with_options(max_retries=0).chat.completions.create(
                model="papers", messages=said("Why?")
            )
        again = asyncio.create_task(bob.chat.completions.create(model="papers", messages=said()))
        await joined.wait()
        gate.open.set()
        reply = await again
        (run,) = (await own.get("/api/runs")).json()
        assert (reply.id, run["status"]) == (f"chatcmpl-{run['run']}", "complete")


def _noting(find: Any, joined: asyncio.Event) -> Any:
    def patched(self: Chats, key: str) -> Any:
        same = find(self, key)
        if same is not None:
            joined.set()
        return same

    return patched


def _impatient(begin: Any) -> Any:
    def patched(self: Any, *args: Any, **given: Any) -> None:
        begin(self, *args, **given | {"silence_s": 0.05})

    return patched


async def test_a_run_that_is_cancelled_ends_its_stream_with_an_error(
    pgs: PGS, server: Served
) -> None:
    gate = Gate(pgs)
    async with client(server, "ann") as ann, server.client("pgs_ann") as own:
        stream = await ann.chat.completions.create(model="papers", messages=said(), stream=True)
        first = await anext(aiter(stream))
        await gate.asked.wait()
        await own.delete(f"/api/runs/{first.id.removeprefix('chatcmpl-')}")
        with pytest.raises(openai.APIError, match="was cancelled"):
            async for _ in stream:
                pass
        gate.open.set()


async def test_the_guard_stands_before_chats(server: Served) -> None:
    body = {"model": "papers", "messages": said()}
    async with server.client("pgs_ann") as ann:
        for headers, status in (
            ({"Host": "evil.example"}, 421),
            ({"Origin": "https://evil.example"}, 403),
            ({"Content-Type": "text/plain"}, 415),
        ):
            refused = await ann.post("/v1/chat/completions", json=body, headers=headers)
            assert refused.status_code == status
            assert refused.json()["error"]["message"]
        large = await ann.post("/v1/chat/completions", json=body | {"x": "x" * 1_100_000})
        assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")
        long = [{"role": "assistant", "content": "x" * 200_000}, *said("### Task: none")]
        told = await ann.post("/v1/chat/completions", json=body | {"messages": long})
        assert "task of the chat program" in told.json()["error"]["message"]
        assert (await ann.get("/v1/other")).json()["error"]["code"] == "not_found"


async def test_a_server_that_only_reads_answers_no_chat(pgs: PGS) -> None:
    async with served(pgs, read_only=True) as server, client(server, "ann") as ann:
        with pytest.raises(openai.PermissionDeniedError, match="only reads"):
            await ann.chat.completions.create(model="papers", messages=said())
