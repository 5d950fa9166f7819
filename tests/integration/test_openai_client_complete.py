"""OpenAILLM.complete, asked through the scheduler, against a fake endpoint on loopback."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from pydantic import SecretStr

from pgs_neo4j.config.providers import PromptCache
from pgs_neo4j.errors import (
    ModelAuthError,
    ModelError,
    ModelOutputError,
    ModelRateLimitError,
    ModelTimeoutError,
    ModelUnavailableError,
    PromptTooLongError,
    UnknownModelError,
)
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Prompt, Usage
from pgs_neo4j.text.tokens import estimate
from tests.asking import Asked
from tests.fakes.openai_server import (
    Answer,
    Drop,
    FakeOpenAI,
    Hang,
    Raw,
    Recorded,
    Scripted,
    Status,
)
from tests.timeless import Clock

pytestmark = pytest.mark.usefixtures("no_waits")
SECRET = "sk-not-for-logs"
PROMPT = Prompt(task="sweep", system="read", user="secretquestion", question="secretquestion")


def model_at(fake: FakeOpenAI, *, timeout_s: float = 60.0, name: str = "fake-model") -> Asked:
    return Asked(OpenAILLM(name, Endpoint(fake.base_url, SecretStr(SECRET), timeout_s)), timeout_s)


@pytest.fixture
async def llm(fake: FakeOpenAI) -> AsyncIterator[Asked]:
    model = model_at(fake)
    yield model
    await model.close()


async def failure(llm: Asked) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await llm.complete(PROMPT, max_tokens=100)
    said = str(caught.value)
    assert SECRET not in said
    assert "secretquestion" not in said
    assert "127.0.0.1" in said
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


async def test_sends_both_messages_and_returns_text_and_reported_usage(
    fake: FakeOpenAI, llm: Asked
) -> None:
    assert isinstance(llm, LLM)
    fake.script(Answer("pong"))
    completion = await llm.complete(PROMPT, max_tokens=77)
    [request] = fake.chats
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert request.body == {
        "model": "fake-model",
        "messages": [
            {"role": "system", "content": "read"},
            {"role": "user", "content": "secretquestion"},
        ],
        "max_tokens": 77,
    }
    assert completion.text == "pong"
    assert completion.model == "fake-model"
    assert not completion.truncated
    assert completion.usage == Usage(calls=1, input_tokens=5, output_tokens=2)
    fake.script(Answer("pong", usage=False))
    usage = (await llm.complete(PROMPT, max_tokens=77, effort="high")).usage
    assert fake.chats[1].body["reasoning_effort"] == "high"
    assert usage == Usage(
        calls=1,
        input_tokens=estimate("readsecretquestion"),
        output_tokens=estimate("pong"),
        estimated=True,
    )


@pytest.mark.parametrize("failing", [*map(Status, (408, 409, 429, 500, 502, 503)), Drop()])
async def test_tries_again_after_a_transient_failure_and_logs_neither_key_nor_question(
    fake: FakeOpenAI, llm: Asked, failing: Status | Drop, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    if isinstance(failing, Status):
        failing = replace(failing, message=f"you said secretquestion with {SECRET}")
    fake.script(failing, failing, Answer("at last"))
    assert (await llm.complete(PROMPT, max_tokens=9)).text == "at last"
    assert len(fake.chats) == 3
    assert SECRET not in caplog.text
    assert "secretquestion" not in caplog.text


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (Status(400, error_code="bad_thing"), ModelUnavailableError, "HTTP 400, bad_thing"),
        (Status(400, error_code="Secret Question!"), ModelUnavailableError, "HTTP 400)"),
        (Status(401), ModelAuthError, "HTTP 401"),
        (Status(403), ModelAuthError, "HTTP 403"),
        (Status(404), UnknownModelError, "fake-model"),
        (Status(422), ModelUnavailableError, "HTTP 422"),
        (
            Status(400, error_code="context_length_exceeded", message="max_tokens too much"),
            PromptTooLongError,
            "max_pass_tokens",
        ),
        (Status(429, error_code="insufficient_quota"), ModelRateLimitError, "quota"),
        (
            Status(429, error_code="x", message="Request too large: Limit 9000, Requested 9001."),
            PromptTooLongError,
            "9,000 tokens",
        ),
        (Status(429, {"Retry-After": "3600"}), ModelRateLimitError, ""),
        (Answer(" \n"), ModelOutputError, ""),
        (Answer("no", finish_reason="content_filter"), ModelOutputError, ""),
        (Answer("no", finish_reason="SAFETY"), ModelOutputError, ""),
        (Answer("", refusal="I would rather not"), ModelOutputError, ""),
        (
            Raw(b'{"choices": [{"finish_reason": "stop", "message": {"content": null}}]}'),
            ModelOutputError,
            "",
        ),
    ],
)
async def test_does_not_repeat_a_refusal_or_a_reply_without_an_answer(
    fake: FakeOpenAI, llm: Asked, reply: Scripted, error: type[ModelError], said: str
) -> None:
    if isinstance(reply, Status) and not reply.error_code:
        reply = replace(reply, message=f"you said secretquestion with {SECRET}")
    fake.script(reply)
    failed = await failure(llm)
    assert isinstance(failed, error)
    assert said in str(failed)
    assert len(fake.chats) == 1


@pytest.mark.parametrize(
    ("reply", "cost"),
    [
        (Answer(""), Usage(calls=1, input_tokens=5, output_tokens=1)),
        (Answer("x", refusal="I will not"), Usage(calls=1, input_tokens=5, output_tokens=1)),
        (Answer("", usage=False), None),
        (Raw(b"no json"), None),
        (Status(401), Usage()),
        (Status(429, error_code="insufficient_quota"), Usage()),
        (Status(422), Usage()),
        (Status(503), Usage()),
        (Status(504), None),
        (Drop(), None),
    ],
)
async def test_a_failure_tells_what_it_has_cost_where_that_is_known(
    fake: FakeOpenAI, llm: Asked, reply: Scripted, cost: Usage | None
) -> None:
    fake.default = reply
    error = await failure(llm)
    if isinstance(error, ModelAuthError | ModelRateLimitError):
        assert error.usage is None  # said by its kind: refused
    else:
        assert error.usage == cost


async def test_an_endpoint_that_is_not_there_is_unavailable_and_has_cost_nothing() -> None:
    with FakeOpenAI() as gone:
        base_url = gone.base_url
    llm = Asked(OpenAILLM("m", Endpoint(base_url, SecretStr(SECRET), 10.0)), 10.0)
    error = await failure(llm)
    assert isinstance(error, ModelUnavailableError)
    assert re.search(r"127\.0\.0\.1:\d+ \(model m\) could not be", str(error))
    assert error.usage == Usage()
    await llm.close()


async def test_server_errors_end_after_five_tries(fake: FakeOpenAI, llm: Asked) -> None:
    fake.default = Status(503)
    assert isinstance(await failure(llm), ModelUnavailableError)
    assert len(fake.chats) == 5


@pytest.mark.parametrize(
    "reply",
    [
        Raw(b"<html>gateway</html>", "text/html"),
        Raw(b"{broken", "application/json"),
        Raw(b"{}"),
        Raw(b'{"choices": []}'),
        Raw(b'{"choices": [{"message": {"content": 7}}]}'),
        Raw(b""),
    ],
)
async def test_a_malformed_reply_is_tried_again_then_refused(
    fake: FakeOpenAI, llm: Asked, reply: Raw
) -> None:
    fake.script(reply, Answer("well formed"))
    assert (await llm.complete(PROMPT, max_tokens=9)).text == "well formed"
    fake.default = reply
    assert isinstance(await failure(llm), ModelOutputError)
    assert len(fake.chats) == 2 + 3


async def test_text_in_typed_parts_is_joined(fake: FakeOpenAI, llm: Asked) -> None:
    fake.script(
        Raw(
            b'{"choices": [{"finish_reason": "stop", "message": {"content": '
            b'[{"type": "thinking"}, "x", {"type": "text", "text": "a"}, '
            b'{"type": "text", "text": "b"}]'
            b"}}]}"
        )
    )
    assert (await llm.complete(PROMPT, max_tokens=9)).text == "ab"


async def test_want_of_room_is_reported_and_no_error(fake: FakeOpenAI, llm: Asked) -> None:
    fake.script(Answer("cut o", finish_reason="length"), Answer("", finish_reason="length"))
    assert (await llm.complete(PROMPT, max_tokens=2)).truncated
    empty = await llm.complete(PROMPT, max_tokens=2)
    assert (empty.text, empty.truncated) == ("", True)


@pytest.mark.parametrize("reason", ["error", "abort", "cancelled", "tool_calls", "?", "überfüllt"])
async def test_a_reply_that_was_broken_off_is_asked_again(
    fake: FakeOpenAI, llm: Asked, reason: str
) -> None:
    fake.script(Answer("## Find", finish_reason=reason), Answer("whole"))
    assert (await llm.complete(PROMPT, max_tokens=9)).text == "whole"
    fake.script(*[Answer("## Find", finish_reason=reason)] * 3)
    error = await failure(llm)
    assert isinstance(error, ModelUnavailableError)
    assert "broke its answer off" in str(error)
    assert len(fake.chats) == 5
    assert error.usage is not None
    assert error.usage.output_tokens > 0


@pytest.mark.parametrize(
    ("reason", "truncated"),
    [
        *(("STOP", False), ("end_turn", False), ("eos_token", False), (None, False), ("", False)),
        *(("MAX_TOKENS", True), ("model_length", True), ("max_output_tokens", True)),
    ],
)
async def test_each_vendor_names_an_end_its_own_way(
    fake: FakeOpenAI, llm: Asked, reason: str | None, truncated: bool
) -> None:
    fake.script(Answer("text", finish_reason=reason))
    assert (await llm.complete(PROMPT, max_tokens=9)).truncated is truncated


@pytest.mark.parametrize(
    ("refuses", "message", "changed"),
    [
        ("reasoning_effort", '"llama3.2:3b" does not support thinking', {"reasoning_effort": None}),
        (
            "reasoning_effort",
            'think value "high" is not supported for this model',
            {"reasoning_effort": None},
        ),
        ("system", "System role not supported", {"messages": ["user"]}),
        ("max_tokens", "This model supports at most 50 completion tokens", {"max_tokens": 50}),
        (
            "max_tokens",
            "max_tokens: 100 > 50, which is the maximum allowed number of output tokens",
            {"max_tokens": 50},
        ),
    ],
)
async def test_what_an_endpoint_refuses_is_left_out_or_moved(
    fake: FakeOpenAI, llm: Asked, refuses: str, message: str, changed: dict[str, object]
) -> None:
    def refuse(request: Recorded) -> Scripted | None:
        body = request.body
        roles = [entry["role"] for entry in body["messages"]]
        used = {**body, "system": "system" in roles, "max_tokens": body.get("max_tokens", 0) > 50}
        return Status(400, message=message) if used.get(refuses) else None

    fake.refuse = refuse
    assert (await llm.complete(PROMPT, max_tokens=100, effort="high")).text == "pong"
    assert (await llm.complete(PROMPT, max_tokens=100, effort="high")).text == "pong"
    assert len(fake.chats) == 3  # what was learned is kept
    sent = fake.chats[-1].body
    seen = {**sent, "messages": [entry["role"] for entry in sent["messages"]]}
    assert {name: seen.get(name) for name in changed} == changed
    assert PROMPT.system in str(sent["messages"])


@pytest.mark.parametrize("most", [2_000, 10])
async def test_a_reply_that_is_too_long_for_an_unknown_reason_is_halved(
    fake: FakeOpenAI, llm: Asked, most: int
) -> None:
    def refuse(request: Recorded) -> Scripted | None:
        return Status(400) if request.body["max_tokens"] > most else None

    fake.refuse = refuse
    if most < 1_000:
        with pytest.raises(ModelUnavailableError, match="refused the request"):
            await llm.complete(PROMPT, max_tokens=8_000)
        return
    for _ in range(2):
        assert (await llm.complete(PROMPT, max_tokens=8_000, effort="high")).text == "pong"
    sent = [chat.body["max_tokens"] for chat in fake.chats]
    assert sent == [8_000, 8_000, 4_000, 2_000, 2_000]
    assert "reasoning_effort" in fake.chats[-1].body


async def test_a_single_refusal_takes_nothing_away_that_was_accepted_before(
    fake: FakeOpenAI, llm: Asked
) -> None:
    def refuse(request: Recorded) -> Scripted | None:
        return Status(400) if len(fake.chats) in {2, 5, 6} else None

    fake.refuse = refuse
    for _ in range(4):
        assert (await llm.complete(PROMPT, max_tokens=8_000, effort="high")).text == "pong"
    sent = [(chat.body["max_tokens"], "reasoning_effort" in chat.body) for chat in fake.chats]
    whole, bare, half = (8_000, True), (8_000, False), (4_000, True)
    assert sent == [whole, whole, bare, whole, whole, bare, half]


async def test_thinking_that_takes_all_room_is_a_reply_without_text(
    fake: FakeOpenAI, llm: Asked
) -> None:
    said = "Could not finish the message because max_tokens or model output limit was reached."
    fake.default = Status(400, message=said)
    reply = await llm.complete(PROMPT, max_tokens=50, effort="high")
    assert (reply.text, reply.truncated, reply.usage.output_tokens) == ("", True, 50)
    assert [chat.body["max_tokens"] for chat in fake.chats] == [50]


async def test_one_deadline_bounds_a_call_that_hangs(fake: FakeOpenAI, clock: Clock) -> None:
    fake.default = Hang()
    llm = model_at(fake, timeout_s=60.0)
    failing = asyncio.create_task(failure(llm))
    assert await asyncio.to_thread(fake.wait_for_requests, 1)
    clock.forward(60)
    assert isinstance(await failing, ModelTimeoutError)
    assert len(fake.chats) == 1
    await llm.close()


async def test_canceling_leaves_a_client_that_still_works(fake: FakeOpenAI, llm: Asked) -> None:
    fake.script(Hang(), Answer("afterwards"))
    task = asyncio.create_task(llm.complete(PROMPT, max_tokens=9))
    assert await asyncio.to_thread(fake.wait_for_requests, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await llm.complete(PROMPT, max_tokens=9)).text == "afterwards"
    await llm.close()
    await llm.close()


@pytest.mark.parametrize("parameter", ["reasoning_effort", "temperature"])
async def test_a_parameter_that_is_refused_is_dropped_for_good(
    fake: FakeOpenAI, parameter: str
) -> None:
    def refuse(request: Recorded) -> Status | None:
        given = parameter in request.body
        return Status(400, message=f"Unsupported parameter: '{parameter}'") if given else None

    fake.refuse = refuse
    endpoint = Endpoint(fake.base_url, None, 60.0)
    llm = OpenAILLM("m", endpoint, temperature=0.0)
    for _ in range(2):
        await llm.complete(PROMPT, max_tokens=9, effort="low")
    assert [parameter in r.body for r in fake.chats] == [True, False, False]
    await llm.close()


async def test_the_other_name_of_the_token_limit_is_learnt_even_by_concurrent_calls(
    fake: FakeOpenAI, llm: Asked
) -> None:
    def refuse(request: Recorded) -> Status | None:
        said = "'max_tokens' is not supported, use 'max_completion_tokens'"
        return (
            Status(400, param="max_tokens", message=said) if "max_tokens" in request.body else None
        )

    fake.refuse = refuse
    await asyncio.gather(*(llm.complete(PROMPT, max_tokens=9) for _ in range(5)))
    before = len(fake.chats)
    await llm.complete(PROMPT, max_tokens=9)
    assert [r.body.get("max_completion_tokens") for r in fake.chats[before:]] == [9]


async def test_learning_ends_when_both_names_are_refused(fake: FakeOpenAI, llm: Asked) -> None:
    fake.default = Status(400, message="max_tokens and max_completion_tokens are both wrong")
    assert isinstance(await failure(llm), ModelUnavailableError)
    assert len(fake.chats) == 2


async def test_nothing_of_the_openai_environment_reaches_the_endpoint(
    fake: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    ambient = {
        "OPENAI_API_KEY": "ambient-key",
        "OPENAI_ADMIN_KEY": "ambient-admin",
        "OPENAI_ORG_ID": "ambient-org",
        "OPENAI_PROJECT_ID": "ambient-project",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/nowhere",
        "OPENAI_CUSTOM_HEADERS": "X-Ambient: ambient-header\nAuthorization: Bearer ambient-auth",
    }
    for name, value in ambient.items():
        monkeypatch.setenv(name, value)
    llm = Asked(OpenAILLM("m", Endpoint(fake.base_url, None, 60.0)), 60.0)
    await llm.complete(PROMPT, max_tokens=9)
    [request] = fake.chats
    assert request.headers["authorization"] == "Bearer no-key"
    assert "ambient" not in " ".join(request.headers.values())
    await llm.close()


async def test_probe_says_whether_the_model_is_listed(fake: FakeOpenAI, llm: Asked) -> None:
    assert "does not list fake-model" in (await llm.probe()).text
    fake.models = ("fake-model",)
    assert "lists fake-model" in (await llm.probe()).text
    fake.models = None
    assert "lists no models" in (await llm.probe()).text
    fake.models = ()
    fake.refuse = lambda _: Status(401)
    with pytest.raises(ModelAuthError):
        await llm.probe()


LONG = replace(PROMPT, system="read " * 2000, user="node " * 2000 + "Why?", shared=10_000)


@pytest.mark.parametrize(
    ("model", "caches", "marked"),
    [
        ("anthropic/claude-x", "none", [False, False, False]),
        ("anthropic/claude-x", "instructions", [True, False, False]),
        ("anthropic/claude-x", "nodes", [True, True, False]),
        ("openai/gpt-x", "nodes", [False, False, False]),
    ],
)
async def test_blocks_are_marked_where_a_router_caches_nothing_unasked(
    fake: FakeOpenAI, model: str, caches: PromptCache, marked: list[bool]
) -> None:
    endpoint = Endpoint(fake.base_url, SecretStr(SECRET), provider="openrouter")
    router = Asked(OpenAILLM(model, endpoint, caches=caches), 60.0)
    assert (await router.complete(LONG, max_tokens=9)).text == "pong"
    await router.close()
    [chat] = fake.chats
    contents = [message["content"] for message in chat.body["messages"]]
    if not any(marked):
        assert contents == [LONG.system, LONG.user]
        return
    blocks = [block for content in contents for block in content]
    assert [block["text"] for block in blocks] == [LONG.system, "node " * 2000, "Why?"]
    assert ["cache_control" in block for block in blocks] == marked


async def test_a_router_that_refuses_marks_is_asked_without(fake: FakeOpenAI) -> None:
    fake.refuse = lambda request: (
        Status(400, message="messages.0.content: cache_control is not permitted")
        if "cache_control" in str(request.body)
        else None
    )
    endpoint = Endpoint(fake.base_url, SecretStr(SECRET), provider="openrouter")
    router = Asked(OpenAILLM("anthropic/claude-x", endpoint), 60.0)
    for _ in range(2):
        assert (await router.complete(LONG, max_tokens=9)).text == "pong"
    await router.close()
    assert ["cache_control" in str(chat.body) for chat in fake.chats] == [True, False, False]
