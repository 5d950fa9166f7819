"""AnthropicLLM, asked through the scheduler, against a fake endpoint on loopback."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from pgs_neo4j.errors import (
    ConfigError,
    ModelAuthError,
    ModelError,
    ModelOutputError,
    ModelRateLimitError,
    ModelTimeoutError,
    ModelUnavailableError,
    PromptTooLongError,
    UnknownModelError,
)
from pgs_neo4j.llm.anthropic.chat import AnthropicLLM
from pgs_neo4j.llm.context import Limited, ModelContext
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.protocol import LLM, Paced, Signed
from pgs_neo4j.model import Completion, Prompt, Usage
from pgs_neo4j.text.tokens import estimate
from tests.asking import Asked
from tests.fakes.anthropic_server import (
    KEY,
    ErrorEvent,
    FakeAnthropic,
    Said,
    Scripted,
    Served,
)
from tests.fakes.openai_server import Drop, Hang, Raw, Recorded, Stall, Status
from tests.timeless import Clock

pytestmark = pytest.mark.usefixtures("no_waits")
PROMPT = Prompt(task="sweep", system="read", user="secretquestion", question="secretquestion")
LONG = replace(PROMPT, system="Read each of the nodes below in full. " * 200)
TEXT = "A thesis in a few words, ünd more."
THOUGHT = "private thoughts about secretquestion"


@pytest.fixture
async def fake() -> AsyncIterator[FakeAnthropic]:
    async with FakeAnthropic() as server:
        yield server


def client_at(fake: FakeAnthropic, timeout_s: float = 60.0, **options: float) -> AnthropicLLM:
    return AnthropicLLM("claude", Endpoint(fake.base_url, SecretStr(KEY), timeout_s), **options)


@pytest.fixture
async def llm(fake: FakeAnthropic) -> AsyncIterator[Asked]:
    model = Asked(client_at(fake), 60.0)
    yield model
    await model.close()


async def streamed(llm: Asked | AnthropicLLM, **asked) -> tuple[list[str], Completion]:
    items = [item async for item in llm.stream(PROMPT, **{"max_tokens": 99} | asked)]
    *pieces, last = items
    assert isinstance(last, Completion)
    assert "".join(map(str, pieces)) == last.text
    return [str(piece) for piece in pieces], last


async def failure(llm: Asked, *, stream: bool = False) -> tuple[list[str], ModelError]:
    pieces: list[str] = []

    async def ask() -> None:
        if not stream:
            await llm.complete(PROMPT, max_tokens=99)
            return
        async for item in llm.stream(PROMPT, max_tokens=99):
            pieces.append(str(item))  # noqa: PERF401  # what came before the failure counts

    with pytest.raises(ModelError) as caught:
        await ask()
    said = str(caught.value)
    assert KEY not in said
    assert "secret" not in said
    assert "127.0.0.1" in said
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return pieces, caught.value


async def test_sends_the_key_both_texts_and_nothing_else(fake: FakeAnthropic, llm: Asked) -> None:
    assert isinstance(llm.llm, LLM | Paced | Signed | Limited)
    for protocol in (LLM, Paced, Signed, Limited):
        assert isinstance(llm.llm, protocol)
    completion = await llm.complete(PROMPT, max_tokens=77)
    [request] = fake.chats
    assert request.headers["x-api-key"] == KEY
    assert "authorization" not in request.headers
    assert request.body == {
        "model": "claude",
        "max_tokens": 77,
        "system": [{"type": "text", "text": "read"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "secretquestion"}]}],
    }
    assert (completion.text, completion.model, completion.truncated) == ("pong", "claude", False)
    assert completion.usage == Usage(calls=1, input_tokens=4, output_tokens=2)
    assert completion.counted == 4


async def test_a_model_may_have_another_id_at_the_server(fake: FakeAnthropic) -> None:
    endpoint = Endpoint(f"{fake.base_url}/v1", SecretStr(KEY), 60.0)
    llm = AnthropicLLM("opus", endpoint, served_as="claude")
    assert (await llm.complete(replace(PROMPT, system=""), max_tokens=9)).text == "pong"
    [request] = fake.chats
    assert request.body["model"] == "claude"
    assert "system" not in request.body
    assert (llm.name, llm.pace) == ("opus", endpoint.pace)
    assert llm.signature.endswith(" claude None")
    assert "opus" in repr(llm)
    await llm.close()
    await llm.close()


async def test_long_blocks_are_cached_and_counted_in_full(fake: FakeAnthropic, llm: Asked) -> None:
    first = await llm.complete(LONG, max_tokens=9)
    again = await llm.complete(replace(LONG, user="another question"), max_tokens=9)
    assert "cache_control" in fake.chats[0].body["system"][0]
    assert "cache_control" not in str(fake.chats[0].body["messages"])
    assert fake.ledger.cache_writes == fake.ledger.cache_reads > 1_000
    assert first.counted == first.usage.input_tokens > 1_000
    used = first.usage + again.usage
    assert (used.input_tokens, used.output_tokens) == (fake.ledger.input, fake.ledger.output)
    assert not used.estimated


ADAPTIVE = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}
BUDGET = {"thinking": {"type": "enabled", "budget_tokens": 2_400}}


@pytest.mark.parametrize(
    ("served", "sent", "asked"),
    [
        (Served(), ADAPTIVE, 1),
        (Served(thinking=("adaptive", "enabled")), ADAPTIVE, 1),
        (Served(thinking=("enabled",)), BUDGET | {"output_config": {"effort": "high"}}, 2),
        (Served(thinking=("enabled",), effort=False), BUDGET, 3),
        (Served(thinking=(), effort=False), {}, 4),
    ],
)
@pytest.mark.parametrize("described", [False, True])
async def test_thinking_takes_the_form_that_the_model_knows(
    fake: FakeAnthropic, llm: Asked, served: Served, sent: dict, asked: int, described: bool
) -> None:
    fake.models = {"claude": replace(served, described=described)}
    await llm.llm.read_context()
    for _ in range(2):  # what was learned is kept
        assert (await llm.complete(PROMPT, max_tokens=4_000, effort="high")).text == "pong"
    last = fake.chats[-1].body
    assert {name: last[name] for name in ("thinking", "output_config") if name in last} == sent
    assert len(fake.chats) == (1 if described else asked) + 1


@pytest.mark.parametrize(
    ("effort", "room", "budget"),
    [
        ("minimal", 9_000, None),
        ("low", 9_000, 1_800),
        ("medium", 9_000, 3_600),
        ("high", 900, None),
    ],
)
async def test_a_budget_of_thinking_is_part_of_the_room(
    fake: FakeAnthropic, llm: Asked, effort, room: int, budget: int | None
) -> None:
    fake.models = {"claude": Served(thinking=("enabled",))}
    await llm.llm.read_context()
    await llm.complete(PROMPT, max_tokens=room, effort=effort)
    [request] = fake.chats
    assert request.body.get("thinking", {}).get("budget_tokens") == budget
    assert request.body["max_tokens"] == room


async def test_a_temperature_goes_to_the_version_that_has_one(fake: FakeAnthropic) -> None:
    llm = client_at(fake, temperature=0.0)
    await llm.complete(PROMPT, max_tokens=9)
    await llm.complete(PROMPT, max_tokens=9, effort="low")  # not taken with thinking
    sent = [
        (chat.headers["anthropic-version"], chat.body.get("temperature")) for chat in fake.chats
    ]
    assert sent == [("2023-06-01", 0.0), ("2026-10-21", None)]
    fake.refuse = lambda request: (
        Status(400, message="`temperature` is deprecated for this model.")
        if "temperature" in request.body
        else None
    )
    for _ in range(2):
        await llm.complete(PROMPT, max_tokens=9)
    assert ["temperature" in chat.body for chat in fake.chats[2:]] == [True, False, False]
    await llm.close()


@pytest.mark.parametrize("described", [False, True])
async def test_the_longest_reply_is_learned(
    fake: FakeAnthropic, llm: Asked, described: bool
) -> None:
    fake.models = {"claude": Served(most_output=50, described=described)}
    await llm.llm.read_context()
    for _ in range(2):
        assert (await llm.complete(PROMPT, max_tokens=100)).text == "pong"
    sent = [chat.body["max_tokens"] for chat in fake.chats]
    assert sent == ([50, 50] if described else [100, 50, 50])


async def test_a_server_that_knows_no_cache_is_asked_without(
    fake: FakeAnthropic, llm: Asked
) -> None:
    fake.refuse = lambda request: (
        Status(400, message="system.0.cache_control: Extra inputs are not permitted")
        if "cache_control" in str(request.body)
        else None
    )
    for _ in range(2):
        assert (await llm.complete(LONG, max_tokens=9)).text == "pong"
    assert len(fake.chats) == 3


@pytest.mark.parametrize(
    "failing", [*map(Status, (408, 409, 429, 500, 503, 504, 529)), Drop(), ErrorEvent()]
)
@pytest.mark.parametrize("stream", [False, True])
async def test_tries_again_after_a_transient_failure_and_logs_neither_key_nor_question(
    fake: FakeAnthropic,
    llm: Asked,
    failing: Scripted,
    stream: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    if isinstance(failing, Status):
        failing = replace(failing, message=f"you said secretquestion with {KEY}")
    if isinstance(failing, ErrorEvent) and not stream:
        failing = Raw(b'{"type": "error", "error": {"type": "overloaded_error"}}')
    fake.script(failing, failing, Said("at last"))
    done = (await streamed(llm))[1] if stream else await llm.complete(PROMPT, max_tokens=9)
    assert done.text == "at last"
    assert len(fake.chats) == 3
    assert KEY not in caplog.text
    assert "secretquestion" not in caplog.text


CREDIT = "Your credit balance is too low to access the Anthropic API."
TOGETHER = "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease"
UNPAID = Usage()


@pytest.mark.parametrize(
    ("reply", "error", "said", "cost"),
    [
        (Status(400, error_code="invalid_request_error"), ModelUnavailableError,
         "HTTP 400, invalid_request_error", UNPAID),
        (Status(400, error_code="Secret Question!"), ModelUnavailableError, "HTTP 400)", UNPAID),
        (Status(400, message=CREDIT), ModelRateLimitError, "quota", None),
        (Status(401), ModelAuthError, "HTTP 401", None),
        (Status(402, error_code="billing_error"), ModelRateLimitError, "quota", None),
        (Status(403), ModelAuthError, "HTTP 403", None),
        (Status(404), UnknownModelError, "model claude", UNPAID),
        (Status(413, error_code="request_too_large"), PromptTooLongError, "max_pass", None),
        (Status(429, {"Retry-After": "3600"}), ModelRateLimitError, "", None),
        (Status(307, {"Location": "https://elsewhere.example/secret"}), ModelUnavailableError,
         "redirects to elsewhere.example (HTTP 307)", UNPAID),
        (Said(" \n"), ModelOutputError, "empty", Usage(calls=1, input_tokens=4, output_tokens=1)),
        (Said("no", stop_reason="refusal"), ModelOutputError, "content filter",
         Usage(calls=1, input_tokens=4, output_tokens=1)),
        (Said("", usage=None), ModelOutputError, "empty", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
async def test_a_refusal_is_not_repeated_and_says_what_it_has_cost(
    fake: FakeAnthropic,
    llm: Asked,
    reply: Scripted,
    error: type[ModelError],
    said: str,
    cost: Usage | None,
    stream: bool,
) -> None:
    if isinstance(reply, Status) and reply.message != CREDIT:
        reply = replace(reply, message=f"you said secretquestion with {KEY}")
    fake.script(reply)
    _, failed = await failure(llm, stream=stream)
    assert isinstance(failed, error)
    assert said in str(failed)
    assert failed.usage == cost
    assert len(fake.chats) == 1


@pytest.mark.parametrize(
    ("message", "context", "prompt"),
    [
        ("prompt is too long: 9321 tokens > 4096 maximum", 4_096, 9_321),
        (TOGETHER, 200_000, 178_959),
    ],
)
async def test_a_prompt_that_is_too_long_says_its_length_and_the_limit(
    fake: FakeAnthropic, llm: Asked, message: str, context: int, prompt: int
) -> None:
    fake.script(Status(400, error_code="invalid_request_error", message=message))
    _, error = await failure(llm)
    assert isinstance(error, PromptTooLongError)
    assert (error.context, error.prompt) == (context, prompt)


async def test_an_endpoint_that_is_not_there_is_unavailable_and_has_cost_nothing() -> None:
    async with FakeAnthropic() as gone:
        llm = Asked(client_at(gone), 60.0)
    _, error = await failure(llm)
    assert isinstance(error, ModelUnavailableError)
    assert "could not be reached" in str(error)
    assert error.usage == UNPAID
    await llm.close()


@pytest.mark.parametrize(
    "content",
    [
        *(b"<html>gateway</html>", b"{broken", b"{}", b'{"content": 7}', b"", b"[" * 100_000),
        b"event: message_start\ndata: " + b"[" * 100_000 + b"\n\n",
        b'event: message_start\ndata: {"type": 7}\n\n',
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_malformed_reply_is_tried_again_then_refused(
    fake: FakeAnthropic, llm: Asked, content: bytes, stream: bool
) -> None:
    reply = Raw(content, "text/event-stream" if stream else "application/json")
    fake.script(reply, Said("well formed"))
    done = (await streamed(llm))[1] if stream else await llm.complete(PROMPT, max_tokens=9)
    assert done.text == "well formed"
    fake.default = reply
    _, error = await failure(llm, stream=stream)
    assert isinstance(error, ModelOutputError)
    assert "without /v1" in str(error)
    assert len(fake.chats) == 2 + 3


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_that_is_too_long_is_cut_off(
    fake: FakeAnthropic, llm: Asked, stream: bool
) -> None:
    flood = Said("x" * 3_000_000, pieces=30)
    fake.default = flood
    pieces, error = await failure(llm, stream=stream)
    assert isinstance(error, ModelOutputError)
    assert "use another model or endpoint" in str(error)
    assert len(pieces) < 30


@pytest.mark.parametrize(
    ("reason", "truncated"),
    [
        *(("end_turn", False), ("stop_sequence", False), (None, False)),
        *(("max_tokens", True), ("model_context_window_exceeded", True)),
    ],
)
async def test_how_a_reply_ends_decides_truncation(
    fake: FakeAnthropic, llm: Asked, reason: str | None, truncated: bool
) -> None:
    fake.default = Said(TEXT, stop_reason=reason)
    assert (await llm.complete(PROMPT, max_tokens=9)).truncated is truncated
    assert (await streamed(llm))[1].truncated is truncated


@pytest.mark.parametrize("reason", ["pause_turn", "tool_use", "compaction", "?"])
async def test_a_reply_that_was_broken_off_is_asked_again(
    fake: FakeAnthropic, llm: Asked, reason: str
) -> None:
    fake.script(Said("## Find", stop_reason=reason), Said("whole"))
    assert (await llm.complete(PROMPT, max_tokens=9)).text == "whole"
    fake.script(Said(TEXT, stop_reason=reason))
    assert (await streamed(llm))[1].truncated
    fake.script(*[Said("## Find", stop_reason=reason)] * 3)
    _, error = await failure(llm)
    assert "broke its answer off" in str(error)
    assert error.usage is not None
    assert error.usage.output_tokens > 0


@pytest.mark.parametrize("room", [99, 30_000])
async def test_thoughts_never_become_text(fake: FakeAnthropic, llm: Asked, room: int) -> None:
    fake.models = {"claude": Served(thinking=("adaptive",))}
    fake.default = Said(TEXT, thinking=THOUGHT, pieces=3)
    whole = await llm.complete(PROMPT, max_tokens=room, effort="high")
    pieces, last = await streamed(llm, max_tokens=room, effort="high")
    assert whole.text == last.text == TEXT
    assert len(pieces) == 3
    assert whole.usage == last.usage
    # What may take longer than an idle connection lasts is streamed.
    assert [chat.body.get("stream", False) for chat in fake.chats] == [room > 20_000, True]


async def test_a_long_reply_that_breaks_off_is_asked_again(fake: FakeAnthropic, llm: Asked) -> None:
    fake.script(ErrorEvent(2), Drop(2), Said(TEXT))
    assert (await llm.complete(PROMPT, max_tokens=30_000)).text == TEXT
    assert len(fake.chats) == 3


@pytest.mark.parametrize(
    ("usage", "doubted"),
    [
        (None, False),
        ({"input_tokens": -1}, False),
        ({"input_tokens": 10**18}, False),
        ({"cache_read_input_tokens": "many"}, False),
        ({"input_tokens": 0}, True),
        ({"output_tokens": 0}, True),
    ],
)
async def test_counts_that_cannot_be_are_estimated(
    fake: FakeAnthropic, llm: Asked, usage: dict | None, doubted: bool
) -> None:
    fake.default = Said(TEXT, usage=usage)
    made = await llm.complete(PROMPT, max_tokens=9)
    assert (made.usage.estimated, made.doubted) == (True, doubted)
    if usage is None or "input_tokens" in usage:
        assert made.usage.input_tokens == estimate("readsecretquestion")
    if usage is None or "output_tokens" in usage:
        assert made.usage.output_tokens == estimate(TEXT)


async def test_a_stream_that_breaks_off_counts_its_prompt_alone(
    fake: FakeAnthropic, llm: Asked
) -> None:
    end = b'event: message_delta\ndata: {"type": "message_delta", "delta": {"stop_reason": '
    begin = (
        b'event: message_start\ndata: {"type": "message_start", "message": {"usage": '
        b'{"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1}}}\n\n'
        b'event: content_block_delta\ndata: {"type": "content_block_delta", "delta": '
        b'{"type": "text_delta", "text": "half an answer"}}\n\n'
    )
    for rest in (b"", end + b'"end_turn"}}\n\n', end + b'"max_tokens"}}\n\n'):
        fake.script(Raw(begin + rest, "text/event-stream"))
        pieces, last = await streamed(llm)
        assert pieces == ["half an answer"]
        assert last.truncated
        assert (last.counted, last.usage.input_tokens) == (7, 7)
        assert (last.usage.estimated, last.usage.output_tokens) == (True, estimate(last.text))


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (ErrorEvent(2), ModelUnavailableError, "broke off after"),
        (ErrorEvent(2, "invalid_request_error"), ModelUnavailableError, "broke off after"),
        (Drop(pieces=2), ModelUnavailableError, "broke off after"),
        (Stall(pieces=2), ModelTimeoutError, "stalled after"),
    ],
)
async def test_a_stream_that_fails_after_its_first_piece_is_not_tried_again(
    fake: FakeAnthropic, reply: Scripted, kind: type[ModelError], said: str
) -> None:
    llm = Asked(client_at(fake, idle_timeout_s=1.5), 60.0)
    fake.script(reply)
    pieces, error = await failure(llm, stream=True)
    assert (len(pieces), type(error)) == (2, kind)
    assert said in str(error)
    assert len(fake.chats) == 1
    await llm.close()


async def test_one_deadline_bounds_a_call_that_hangs(fake: FakeAnthropic, clock: Clock) -> None:
    fake.default = Hang()
    llm = Asked(client_at(fake, 60.0), 60.0)
    failing = asyncio.create_task(failure(llm))
    await fake.arrived.wait()
    clock.forward(60)
    _, error = await failing
    assert isinstance(error, ModelTimeoutError)
    assert "within 60 s" in str(error)
    assert len(fake.chats) == 1
    await llm.close()


@pytest.mark.parametrize("stream", [False, True])
async def test_canceling_closes_the_connection_and_leaves_a_client_that_works(
    fake: FakeAnthropic, llm: Asked, stream: bool
) -> None:
    fake.script(Stall(pieces=1) if stream else Hang())
    seen = asyncio.Event()

    async def consume() -> None:
        if not stream:
            await llm.complete(PROMPT, max_tokens=9)
        async for _ in llm.stream(PROMPT, max_tokens=9):
            seen.set()

    task = asyncio.create_task(consume())
    await (seen if stream else fake.arrived).wait()
    assert not fake.gone.is_set()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(fake.gone.wait(), 10)
    assert (await llm.complete(PROMPT, max_tokens=9)).text == "pong"


async def test_leaving_a_stream_early_closes_its_connection(
    fake: FakeAnthropic, llm: Asked
) -> None:
    fake.script(Stall(pieces=1))
    async with aclosing(llm.stream(PROMPT, max_tokens=9)) as stream:
        assert await anext(stream)
    await asyncio.wait_for(fake.gone.wait(), 10)
    assert (await streamed(llm))[1].text == "pong"


async def test_rate_limits_are_read_from_the_headers(fake: FakeAnthropic, llm: Asked) -> None:
    reset = (datetime.now(UTC) + timedelta(minutes=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    limits = {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": reset,
        "anthropic-ratelimit-input-tokens-remaining": "8000",
        "anthropic-ratelimit-input-tokens-reset": "in a while",
    }
    fake.default = Said(headers=limits)
    for room in (9, 30_000):
        left = (await llm.complete(PROMPT, max_tokens=room)).left
        assert left is not None
        assert (left.requests, left.tokens, left.tokens_reset_s) == (0, 8_000, None)
        assert left.requests_reset_s == pytest.approx(120, abs=30)
    fake.default = Status(429, limits, error_code="rate_limit_error")
    with pytest.raises(ModelRateLimitError) as caught:
        await llm.llm.complete(PROMPT, max_tokens=9)
    assert caught.value.retry is not None
    assert caught.value.retry.wait_s == pytest.approx(120, abs=30)


async def test_nothing_of_the_anthropic_environment_reaches_the_endpoint(
    fake: FakeAnthropic, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    headers = (
        *("X-Ambient: ambient", "X-Api-Key: ambient", "x-api-key: ambient"),
        *("Authorization: Bearer ambient", "anthropic-version: ambient", "ACCEPT-ENCODING: br"),
        *("Content-Type: text/ambient", "anthropic-beta: ambient"),
    )
    ambient = {
        "ANTHROPIC_API_KEY": "ambient-key",
        "ANTHROPIC_AUTH_TOKEN": "ambient-token",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/ambient",
        "ANTHROPIC_CUSTOM_HEADERS": "\n".join(headers),
        "ANTHROPIC_PROFILE": "ambient",
        "ANTHROPIC_CONFIG_DIR": str(tmp_path),
        "ANTHROPIC_IDENTITY_TOKEN": "ambient-identity",
        "ANTHROPIC_FEDERATION_RULE_ID": "ambient-rule",
        "ANTHROPIC_ORGANIZATION_ID": "ambient-organization",
        "ANTHROPIC_WORKSPACE_ID": "ambient-workspace",
        "ANTHROPIC_WEBHOOK_SIGNING_KEY": "ambient-webhook",
        "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
    }
    for name, value in ambient.items():
        monkeypatch.setenv(name, value)
    profile = tmp_path / "configs" / "default.json"
    profile.parent.mkdir()
    profile.write_text('{"base_url": "http://127.0.0.1:9/ambient", "workspace_id": "ambient"}')
    unkeyed = AnthropicLLM("claude", Endpoint(fake.base_url, None, 60.0))
    with pytest.raises(ModelAuthError):
        await unkeyed.complete(PROMPT, max_tokens=9)
    llm = client_at(fake)
    await llm.read_context()
    await llm.probe()
    await llm.complete(PROMPT, max_tokens=9)
    await streamed(llm)
    assert len(fake.requests) == 5
    for request in fake.requests:
        sent = " ".join([*request.headers.values(), request.path, str(request.body)])
        assert "ambient" not in sent
        assert request.headers["accept-encoding"] == "gzip"
        assert "authorization" not in request.headers
    assert [request.headers["x-api-key"] for request in fake.requests] == ["no-key", *[KEY] * 4]
    await unkeyed.close()
    await llm.close()


async def test_the_context_is_read_from_the_description(fake: FakeAnthropic) -> None:
    llm = client_at(fake)
    assert await llm.read_context() == ModelContext(200_000, "server")
    assert not llm.refuses_long_prompts
    silent: list[Scripted] = [
        *(Status(404), Status(401), Status(500), Raw(b"no json"), Raw(b"[]")),
        *(Raw(b'{"max_input_tokens": -1}'), Raw(b'{"max_input_tokens": "many"}')),
        Raw(b'{"max_input_tokens": 1000000000000, "capabilities": 7}'),
    ]
    replies = iter(silent)
    fake.refuse = lambda _: next(replies)
    for _ in silent:
        assert await llm.read_context() is None
    await llm.close()


@pytest.mark.parametrize(
    ("url", "refuses"),
    [
        *(
            (None, True),
            ("https://api.anthropic.com", True),
            ("https://API.anthropic.com/v1", True),
        ),
        *(("https://anthropic.com.example.org", False), ("http://127.0.0.1:1", False)),
    ],
)
def test_only_anthropic_is_known_to_refuse_long_prompts(url: str | None, refuses: bool) -> None:
    llm = AnthropicLLM("claude", Endpoint(url, SecretStr(KEY)))
    assert llm.refuses_long_prompts is refuses


async def test_probe_says_whether_the_model_is_listed(fake: FakeAnthropic, llm: Asked) -> None:
    assert (await llm.probe()).text.endswith("answers and lists claude")
    fake.models = {"claude-new": Served()}
    assert (await llm.probe()).listed is False
    served: dict[str, Served] = {"claude-new": Served(), "claude": Served()}
    fake.models = served

    def unlisted(request: Recorded) -> Scripted | None:  # as an alias is
        return Raw(b'{"data": [{"id": "claude-new"}]}') if "?" in request.path else None

    fake.refuse = unlisted
    assert (await llm.probe()).listed is True
    fake.models = None
    fake.refuse = lambda _: None
    assert "lists no models" in (await llm.probe()).text
    fake.refuse = lambda _: Status(401)
    with pytest.raises(ModelAuthError):
        await llm.probe()
    fake.refuse = lambda _: Raw(b"no json")
    with pytest.raises(ModelOutputError):
        await llm.probe()


def test_a_missing_package_is_named_when_the_model_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(ConfigError, match=r"pip install 'pgs-neo4j\[anthropic\]'"):
        AnthropicLLM("claude", Endpoint("https://api.anthropic.com", SecretStr(KEY)))
