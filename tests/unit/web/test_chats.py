"""Chats in OpenAI's form: what is asked, what is refused, and what a stream says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import ValidationError

from pgs_neo4j.engine import Request
from pgs_neo4j.engine.live_work import is_active
from pgs_neo4j.errors import (
    BudgetError,
    BusyError,
    ModelError,
    QuestionError,
    UnknownGraphError,
    UsageError,
)
from pgs_neo4j.events import PhaseStarted, TextStreamed
from pgs_neo4j.export import Document
from pgs_neo4j.model import Answer
from pgs_neo4j.web.access.callers import OWNER, Caller, ForbiddenError
from pgs_neo4j.web.chat.asking import ChatModel, ChatRun, Chats, find_model, list_chat_models
from pgs_neo4j.web.chat.bodies import ChatRequest
from pgs_neo4j.web.chat.endpoints import PING, ChatReplies, progress_line, to_message
from pgs_neo4j.web.chat.prompts import AskedText
from pgs_neo4j.web.failures import Failure, failure_response
from pgs_neo4j.web.runs.awaited import start_awaited
from pgs_neo4j.web.runs.board import LiveRun
from pgs_neo4j.web.runs.events import LoggedEvent
from pgs_neo4j.web.served_work import stop_served
from pgs_neo4j.web.shared import Serving
from tests.fakes.records import StoredGraphs, answered, giving
from tests.fakes.requests import options_of
from tests.in_process import serving_of

ANN = Caller("ann", "asker", True, frozenset({"papers"}))


class Engine:
    """An engine that answers when it may, and notes how it is asked."""

    def __init__(self) -> None:
        self.go, self.asked = asyncio.Event(), list[tuple[str, dict[str, Any]]]()
        self.graphs, self.config = StoredGraphs(), SimpleNamespace(max_cost=None)
        self.runs = SimpleNamespace(new_id=self.new_id, costs=giving([]), document=self.document)
        self.error: Exception | None = None
        self.answer = answered()
        self.ids = 0

    def new_id(self) -> str:
        self.ids += 1
        return f"r{self.ids:012}"

    async def execute(self, request: Request, *, on_event: Any) -> Answer:
        self.asked.append(("execute", options_of(request)))
        on_event(PhaseStarted("route"))
        on_event(TextStreamed("It is "))
        await self.go.wait()
        on_event(TextStreamed("so."))
        if self.error is not None:
            raise self.error
        return answered()

    async def document(self, run: str) -> Document:
        return Document(answer=self.answer, asked_at="2026-01-01")


def begin_with(serving: Serving) -> Callable[[Caller, ChatRequest], Awaitable[ChatRun]]:
    """Return a function that begins chats of one server."""
    return partial(Chats().begin, serving)


def request(*texts: str, **more: Any) -> ChatRequest:
    roles = ("user", "assistant")
    turns = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts or ("Why?",))]
    return ChatRequest.model_validate({"model": "papers", "messages": turns} | more)


def test_the_last_message_is_the_question_and_the_first_names_the_session() -> None:
    one, two = request("Why?"), request("Why?", "So.", "And how?")
    assert (one.question().question, two.question().question) == ("Why?", "And how?")
    assert one.session() == two.session() != request("How?").session()
    assert one.session() != request("Why?", user="bob").session()
    assert request("Why?", metadata={"session": "mine"}).session() == "mine"
    parts = [{"type": "text", "text": "Why"}, {"type": "text", "text": "so?"}]
    split = request(messages=[{"role": "user", "content": parts}])
    assert split.question() == AskedText("Why\nso?")
    with_files = request("<context>An owl.</context>\n\nWhy?")
    assert with_files.session() == one.session()


def test_what_is_no_question_or_has_no_answer_is_refused_and_the_harmless_is_not() -> None:
    for harmless in (
        {"temperature": 2, "seed": 1, "stop": [], "max_completion_tokens": 5, "n": 1},
        {"tools": [], "functions": None, "logprobs": False, "anything": {"else": 1}},
        {"response_format": {"type": "text"}, "modalities": ["text"]},
    ):
        request(**harmless).check()
    for more in (
        {"n": 2}, {"stop": ["x"]}, {"stop": "x"},
        {"tools": [{}]}, {"functions": [{}]}, {"logprobs": True},
        {"modalities": ["audio"]}, {"response_format": {"type": "json_schema"}},
    ):  # fmt: skip
        with pytest.raises(UsageError, match=f"{next(iter(more))} is not supported"):
            request(**more).check()
    for asked, why in (
        (request("Why?", "So."), "last message"),
        (request("x" * 20_001), "at most 20,000"),
        (
            request("### Task:\nGenerate a title\n### Guidelines:\n- short"),
            "task of the chat program",
        ),
        (
            request(
                messages=[
                    {"role": "system", "content": 'Available Tools: [{"name": "clock"}]'},
                    {"role": "user", "content": "Query: Why?"},
                ]
            ),
            "task of the chat program",
        ),
        (request(messages=[{"role": "user", "content": [{"type": "image_url"}]}]), "image_url"),
    ):
        with pytest.raises(UsageError, match=why):
            asked.question()
    assert request("x" * 20_000).question()
    assert request(f"<context>{'x' * 90_000}</context>\n\nWhy?").question() == AskedText(
        "Why?", True
    )
    for session in ("", "x" * 121, 7):
        with pytest.raises(UsageError, match=r"metadata\.session"):
            request(metadata={"session": session}).session()
    with pytest.raises(ValidationError):
        request(messages=[])


async def test_a_model_is_a_graph_and_how_it_is_asked() -> None:
    here = serving_of(Engine())
    assert await find_model(here, ANN, "papers") == ChatModel("papers")
    assert await find_model(here, ANN, "papers:targeted") == ChatModel("papers", "targeted")
    assert (await find_model(here, OWNER, "secret:mix")).search == "mix"
    assert (await find_model(here, ANN, "papers:")).mode == "full"
    for name in ("secret", "nothing", "papers:x", ":auto", "x:full"):
        with pytest.raises(UnknownGraphError, match=f"no model {name}") as hidden:
            await find_model(here, ANN, name)
        assert "papers, secret" not in str(hidden.value)
    listed = [model["id"] for model in await list_chat_models(here, ANN)]
    assert listed == ["papers", "papers:continue", "papers:auto"]


async def test_a_repeated_request_joins_the_run_in_progress() -> None:
    engine = Engine()
    begin = begin_with(serving_of(engine))
    poor = Caller("ann", "asker", True, frozenset({"papers"}), None, 0.5)
    first = await begin(poor, request())
    again = await begin(poor, request())
    assert again.id == first.id == "r000000000001"
    leaving = ChatReplies(first, "papers").stream()
    await anext(leaving)
    await cast(AsyncGenerator[str], leaving).aclose()
    assert is_active(first.awaited.run), "who leaves loses nothing, and may come back"
    with pytest.raises(BudgetError):
        await begin(poor, request("How?"))
    engine.go.set()
    assert (await again.document()).answer.text == "It is so."
    assert (await begin(poor, request())).id != first.id
    ((_, given),) = engine.asked[:1]
    assert (given["max_cost"], given["session_id"]) == (0.5, f"ann / {request().session()}")


async def test_what_may_not_be_asked_begins_nothing() -> None:
    engine = Engine()
    with pytest.raises(ForbiddenError):
        await begin_with(serving_of(engine))(Caller("eve", "reader", True), request())
    with pytest.raises(ForbiddenError):
        await begin_with(serving_of(engine, read_only=True))(ANN, request())
    with pytest.raises(QuestionError):
        await begin_with(serving_of(engine))(ANN, request("  "))
    one = Caller("one", "asker", True, None, 1)
    serving = serving_of(engine)
    begin = begin_with(serving)
    await begin(one, request())
    with pytest.raises(BusyError):
        await begin(one, request("How?"))
    await stop_served(serving.board.live)
    assert len(engine.asked) <= 1


def parsed(chunks: list[str]) -> list[Any]:
    assert all(chunk.endswith("\n\n") for chunk in chunks)
    lines = [chunk.removeprefix("data: ").strip() for chunk in chunks if chunk != PING]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


async def test_a_stream_keeps_the_connection_and_ends_as_clients_expect() -> None:
    engine = Engine()
    run = await begin_with(serving_of(engine))(ANN, request())
    chunks: list[str] = []
    async for chunk in ChatReplies(run, "papers", usage=True, silence_s=0.01).stream():
        chunks.append(chunk)
        if chunks.count(PING) == 2:
            engine.go.set()
    told = parsed(chunks)
    assert chunks.count(PING) >= 2
    assert told[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert told[1]["choices"][0]["delta"] == {
        "reasoning_content": "Choosing the partitions to read.\n"
    }
    text = told[2]["choices"][0]["delta"]["content"]
    assert text.startswith("It is so.\n\n## Sources")
    assert told[3]["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "stop"}
    assert told[4]["choices"] == []
    assert told[4]["usage"] == {
        "prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34,
        "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    }  # fmt: skip
    assert (told[4]["pgs"]["run"], told[4]["pgs"]["cost"]) == ("r1", 0.5)
    assert told[5] == "[DONE]"
    assert {one["id"] for one in told[:5]} == {"chatcmpl-r000000000001"}


async def test_an_error_within_a_stream_is_its_last_event() -> None:
    for error, code, kind in (
        (ModelError("the key was refused; set another one"), "model", StopAsyncIteration),
        (RuntimeError("canary"), "fault", RuntimeError),
    ):
        engine = Engine()
        engine.error = error
        engine.go.set()
        run = await begin_with(serving_of(engine))(ANN, request())
        chunks: list[str] = []
        stream = ChatReplies(run, "papers").stream()
        with pytest.raises(kind):
            while True:
                chunks.append(await anext(stream))
        task = run.awaited.run.task
        assert task is not None
        assert isinstance(task.exception(), RuntimeError) is (kind is RuntimeError)
        last = parsed(chunks)[-1]["error"]
        assert (last["code"], "canary" in str(chunks)) == (code, False)


async def test_who_joins_after_a_deletion_hears_that_the_run_works_until_it_has_ended() -> None:
    """A stream in which nothing comes for minutes is cut by proxies and by programs."""
    engine = Engine()
    begin = begin_with(serving_of(engine, ANN))
    run = await begin(ANN, request())
    while not engine.asked:
        await asyncio.sleep(0)
    run.awaited.run.log.drop()
    stream = ChatReplies(run, "papers", silence_s=0.001).stream()
    await anext(stream)  # who speaks
    async with asyncio.timeout(10):
        assert [await anext(stream) for _ in range(3)] == [PING] * 3
    engine.go.set()
    chunks = parsed([chunk async for chunk in stream])
    said = [one["choices"][0]["delta"].get("content", "") for one in chunks if one != "[DONE]"]
    assert [text for text in said if text] == [to_message(await run.document())]


async def test_an_answer_that_a_limit_cut_says_so() -> None:
    engine = Engine()

    async def cut(hear: Any) -> Answer:
        return engine.answer

    engine.answer = answered(stopped="max_cost was reached")

    here = serving_of(engine)
    run = LiveRun(id="r000000000001", caller=OWNER, graph="papers", session="s", question="Why?")
    whole = await ChatReplies(ChatRun(here, start_awaited(here.board, run, cut)), "papers").whole()
    assert whole["choices"][0]["finish_reason"] == "length"
    assert whole["pgs"]["stopped"] == "max_cost was reached"
    assert "max_cost was reached" in whole["choices"][0]["message"]["content"].replace("`", "")


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("queued", {"place": 2}, "Place 2 in the queue."),
        ("routed", {"routes": [1]}, "1 partition to read."),
        ("sweep_finished", {"partition": 3, "status": "accepted", "nodes_read": 7},
         "Partition 3: accepted, 7 nodes read."),
        ("sweep_finished",
         {"partition": 3, "status": "accepted", "nodes_read": 7, "nodes_unproven": 2},
         "Partition 3: accepted, 7 nodes read, 2 shown, unproven."),
        ("phase_started", {"phase": "synthesize"}, "Writing the answer."),
        ("phase_started", {"phase": "record"}, ""),
        ("usage", {"calls": 1}, ""),
    ],
)  # fmt: skip
def test_events_become_sentences(name: str, data: dict[str, Any], line: str) -> None:
    assert progress_line(LoggedEvent(1, name, json.dumps(data))) == line


@pytest.mark.parametrize(
    ("path", "status", "code", "told", "kind", "again"),
    [
        ("/v1/models", 401, "unauthenticated", "invalid_api_key", "authentication_error", "false"),
        ("/v1/models", 404, "unknown_graph", "model_not_found", "invalid_request_error", "false"),
        ("/v1/models", 402, "budget", "insufficient_quota", "insufficient_quota", "false"),
        ("/v1/models", 409, "busy", "busy", "invalid_request_error", "true"),
        ("/v1/models", 502, "model", "model", "server_error", "false"),
    ],
)
def test_a_failure_has_the_form_of_its_path(
    path: str, status: int, code: str, told: str, kind: str, again: str
) -> None:
    failure = Failure(error="it failed", code=code, fix="do this")
    chat = failure_response(path, status, failure)
    assert json.loads(chat.body)["error"] == {
        "message": "it failed; do this", "type": kind, "param": None, "code": told,
    }  # fmt: skip
    assert (chat.status_code, chat.headers["x-should-retry"]) == (status, again)
    plain = failure_response("/api/runs", status, failure)
    assert json.loads(plain.body) == failure.model_dump()


async def test_a_conversation_that_has_read_everything_can_read_it_again() -> None:
    engine = Engine()
    engine.go.set()
    begin = begin_with(serving_of(engine, ANN))
    for given, wanted in (({}, False), ({"full_sweep": True}, True), ({"full_sweep": None}, False)):
        run = await begin(ANN, request(model="papers:continue", **given))
        await run.document()
        name, asked = engine.asked[-1]
        assert (name, asked["mode"], asked.get("full_sweep", False)) == (
            "execute",
            "continue",
            wanted,
        )
    with pytest.raises(UsageError, match="answers from a search, which reads no partition"):
        await begin(ANN, request(model="papers:auto", full_sweep=True))
    for wrong in ("true", 1):
        with pytest.raises(ValidationError):
            request(full_sweep=wrong)


async def test_the_same_question_with_and_without_a_full_sweep_are_two_runs() -> None:
    engine = Engine()
    begin = begin_with(serving_of(engine, ANN))
    first = await begin(ANN, request())
    second = await begin(ANN, request(full_sweep=True))
    assert (await begin(ANN, request(full_sweep=True))).id == second.id != first.id
    engine.go.set()
    await first.document()
    await second.document()
