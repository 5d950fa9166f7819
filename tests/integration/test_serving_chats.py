"""Chats by OpenAI's own client: models, answers, streams, and errors in its form."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.model import GraphMapping
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import Served, entry

QUESTION = "What do the papers say about sleep?"
PRICES = {"scripted": {"input_price": 1.0, "output_price": 1.0}}


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    tokens = [
        entry("ann", "papers"), entry("bob", "papers"),
        entry("eve", "papers", role="reader"), entry("poor", "papers", cost_per_day=1e-9),
    ]  # fmt: skip
    async with engine_on_papers(endpoint, db, token=tokens, models=PRICES) as opened:
        await opened.graphs.add("other", GraphMapping(labels=("Paper",), text=("abstract",)))
        await opened.partitions.build("papers")
        yield opened


def client(server: Served, name: str, **options: Any) -> AsyncOpenAI:
    key = f"pgs_{name}"
    return AsyncOpenAI(base_url=f"{server.base}/v1", api_key=key, timeout=120, **options)


def said(question: str = QUESTION) -> list[Any]:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": question}]


async def test_an_answer_has_its_sources_and_its_true_usage(pgs: PGS, server: Served) -> None:
    async with client(server, "ann") as ann, server.client("pgs_ann") as own:
        reply = await ann.chat.completions.create(
            model="papers", messages=said(), temperature=0.2, max_tokens=50, tools=[], n=1
        )
        (choice,) = reply.choices
        text = choice.message.content or ""
        assert (choice.finish_reason, choice.message.role) == ("stop", "assistant")
        assert text.startswith("### Thesis")
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
        found = await ann.chat.completions.create(model="papers:hybrid", messages=said())
        assert "## Sources" in (found.choices[0].message.content or "")
    before = [one.partition("Run r")[0] for one in (text, whole.choices[0].message.content or "")]
    assert before[0] == before[1]
    assert "## Sources" in before[0]


@pytest.mark.thorough
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


async def test_errors_have_the_form_of_openai(server: Served) -> None:
    async with client(server, "wrong") as nobody:
        with pytest.raises(openai.AuthenticationError) as refused:
            await nobody.models.list()
        assert refused.value.code == "invalid_api_key"
    async with client(server, "ann") as ann:
        for model in ("other", "nothing"):
            with pytest.raises(openai.NotFoundError) as missing:
                await ann.chat.completions.create(model=model, messages=said())
            assert missing.value.code == "model_not_found"
            assert "papers" not in str(missing.value)
        for asked, param in (
            ({"messages": said("  ")}, "messages"), ({"messages": said("Why?"), "n": 2}, "n"),
            ({"messages": said("Why?"), "stop": ["x"]}, "stop"),
            ({"messages": []}, "messages"), ({"messages": said("Why?"), "user": 5}, "user"),
        ):  # fmt: skip
            with pytest.raises(openai.BadRequestError) as invalid:
                await ann.chat.completions.create(model="papers", **asked)
            assert (invalid.value.type, invalid.value.param) == ("invalid_request_error", param)
        with pytest.raises(openai.NotFoundError, match="GET /v1/models"):
            await ann.models.retrieve("papers:sideways")
    async with client(server, "eve") as eve:
        with pytest.raises(openai.PermissionDeniedError):
            await eve.chat.completions.create(model="papers", messages=said())
        names = [model.id async for model in await eve.models.list()]
        assert names == ["papers", "papers:continue", "papers:auto"]
        assert (await eve.models.retrieve("papers:hybrid")).id == "papers:hybrid"


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
