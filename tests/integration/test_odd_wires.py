"""What servers send that is not in OpenAI's own interface: errors with status 200, odd streams."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence

import pytest
from pydantic import SecretStr

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import (
    ModelAuthError,
    ModelError,
    ModelOutputError,
    ModelRateLimitError,
    ModelUnavailableError,
    PromptTooLongError,
    UnknownModelError,
)
from pgs_neo4j.events import CallRetried, CallsHeld, Event
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.embedders.openai import OpenAIEmbedder
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.model import Completion, Prompt
from pgs_neo4j.text.thinking import strip_thinking
from tests.asking import Asked
from tests.fakes.openai_server import Answer, FakeOpenAI, Raw, Recorded, Scripted, Status

pytestmark = pytest.mark.usefixtures("no_waits")
PROMPT = Prompt(task="synthesis", system="think", user="about it", question="about it")
TEXT = "A thesis, ünd more."
SSE = "text/event-stream"


@pytest.fixture
async def llm(fake: FakeOpenAI) -> AsyncIterator[Asked]:
    model = Asked(OpenAILLM("m", Endpoint(fake.base_url, SecretStr("k"), 60.0)), 60.0)
    yield model
    await model.close()


async def ask(llm: Asked, *, stream: bool) -> Completion:
    """Return the whole reply, asked for as one text or as a stream."""
    if not stream:
        return await llm.complete(PROMPT, max_tokens=99, effort="high")
    pieces = [piece async for piece in llm.stream(PROMPT, max_tokens=99, effort="high")]
    assert isinstance(pieces[-1], Completion)
    assert "".join(str(piece) for piece in pieces[:-1]) == pieces[-1].text
    return pieces[-1]


def in_body(error: object) -> Raw:
    return Raw(json.dumps({"error": error}).encode())


def in_event(error: object) -> Raw:
    return Raw(f": keep-alive\n\ndata: {json.dumps({'error': error})}\n\n".encode(), SSE)


def in_choice(error: object) -> Raw:
    choice = {"index": 0, "message": {"content": ""}, "finish_reason": "error", "error": error}
    return Raw(json.dumps({"choices": [choice]}).encode())


# The error of a gateway, its kind, and whether asking again may help.
ERRORS: list[tuple[object, type[ModelError], bool]] = [
    ({"message": "Provider returned error", "code": 502}, ModelUnavailableError, True),
    ({"message": "Provider returned error", "code": "502"}, ModelUnavailableError, True),
    ({"message": "Overloaded", "type": "overloaded_error"}, ModelUnavailableError, True),
    ("the model crashed", ModelUnavailableError, True),
    ({"message": "slow down", "code": 429}, ModelRateLimitError, True),
    ({"message": "Rate limit reached", "type": "tokens"}, ModelRateLimitError, True),
    ({"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota"}, ModelRateLimitError, True),
    ({"message": "no credit", "code": "insufficient_quota"}, ModelRateLimitError, False),
    ({"message": "maximum context length is 4096 tokens", "code": 400}, PromptTooLongError, False),
    ({"message": "prompt is too long: 9000 tokens > 4096 maximum"}, PromptTooLongError, False),
    ({"message": "No auth credentials found", "code": 401}, ModelAuthError, False),
    ({"message": "No endpoints found", "code": 404}, UnknownModelError, False),
]


@pytest.mark.parametrize(
    ("wrap", "stream"),
    [(in_body, False), (in_choice, False), (in_body, True), (in_event, True)],
    ids=["body", "choice", "body for a stream", "event"],
)
async def test_an_error_with_status_200_means_what_its_code_says(fake, llm, wrap, stream):
    for error, kind, again in ERRORS:
        fake.script(wrap(error))
        with pytest.raises(ModelError) as caught:
            if stream:
                await anext(llm.llm.stream(PROMPT, max_tokens=99))
            else:
                await llm.llm.complete(PROMPT, max_tokens=99)
        assert type(caught.value) is kind, error
        assert bool(caught.value.retry) is again, error
        if isinstance(caught.value, PromptTooLongError):
            assert caught.value.context == 4096
    assert len(fake.chats) == len(ERRORS)
    fake.script(wrap(ERRORS[0][0]), Answer(TEXT))
    assert (await ask(llm, stream=stream)).text == TEXT


async def test_an_embedder_sees_an_error_with_status_200(fake):
    fake.default = in_body({"message": "No auth credentials found", "code": 401})
    embedder = OpenAIEmbedder(Endpoint(fake.base_url, SecretStr("k"), 60.0))
    with pytest.raises(ModelAuthError):
        await embedder.embed(["one"])
    await embedder.close()


def chunk(delta: object = None, end: str | None = None, **more: object) -> str:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": end}]
    return json.dumps({"id": "x", "choices": choices, **more})


USAGE = {"prompt_tokens": 21, "completion_tokens": 7}
PIECES = [chunk({"role": "assistant", "content": ""}), chunk({"content": TEXT[:5]})]
LAST = chunk({"content": TEXT[5:]})
STOP, COUNT, DONE = chunk({}, "stop"), chunk(usage=USAGE), "[DONE]"
GOOD = [*PIECES, LAST, STOP, COUNT, DONE]


def events(lines: Sequence[str], *, head: str = "data: ", end: str = "\n\n") -> Raw:
    return Raw("".join(f"{head}{line}{end}" for line in lines).encode(), SSE)


STREAMS: dict[str, tuple[Raw, bool]] = {
    "as OpenAI sends it": (events(GOOD), True),
    "no space after data": (events(GOOD, head="data:"), True),
    "CRLF": (events(GOOD, end="\r\n\r\n"), True),
    "CR": (events(GOOD, end="\r\r"), True),
    "comments": (events(GOOD, head=": OPENROUTER PROCESSING\n\ndata: "), True),
    "a named event": (events(GOOD, head="event: message\nid: 7\ndata: "), True),
    "role repeated": (
        events([*PIECES, chunk({"role": "assistant", "content": TEXT[5:]}), STOP, COUNT, DONE]),
        True,
    ),
    "empty deltas": (
        events([*PIECES, chunk({}), chunk({"content": ""}), chunk({"content": None}), *GOOD[2:]]),
        True,
    ),
    "null delta": (
        events([*PIECES, '{"choices": [{"index": 0, "delta": null}]}', *GOOD[2:]]),
        True,
    ),
    "usage beside the end": (
        events([*PIECES, LAST, chunk({}, "stop", usage=USAGE), DONE]), True,
    ),
    "usage in each chunk": (
        events([chunk({"content": TEXT}, usage={**USAGE, "completion_tokens": 1}), STOP, COUNT,
                chunk(usage=None), DONE]),
        True,
    ),
    "no choices at all": (events([*GOOD[:4], json.dumps({"usage": USAGE}), DONE]), True),
    "reasoning_content": (events([chunk({"reasoning_content": "WRONG"}), *GOOD]), True),
    "reasoning": (events([chunk({"reasoning": "WRONG", "content": ""}), *GOOD]), True),
    "typed parts": (
        events([chunk({"content": [{"type": "thinking", "thinking": [{"text": "WRONG"}]}]}),
                chunk({"content": [{"type": "text", "text": TEXT}]}), STOP, COUNT, DONE]),
        True,
    ),
    "think": (events([chunk({"content": "<think>WRONG</think>"}), *GOOD]), True),
    "harmony": (
        events([chunk({"content": "<|channel|>analysis<|message|>WRONG<|end|>"}),
                chunk({"content": "<|start|>assistant<|channel|>final<|message|>"}), *GOOD]),
        True,
    ),
    "no usage": (events([*GOOD[:4], DONE]), False),
    "usage of null": (events([*GOOD[:4], chunk(usage=None), DONE]), False),
    "usage of a string": (events([*GOOD[:4], chunk(usage="21"), DONE]), False),
    "usage of -1": (events([*GOOD[:4], chunk(usage={**USAGE, "prompt_tokens": -1}), DONE]), False),
    "usage of 10^18": (
        events([*GOOD[:4], chunk(usage={**USAGE, "prompt_tokens": 10**18}), DONE]), False,
    ),
    "no end but [DONE]": (events([*PIECES, LAST, COUNT, DONE]), True),
    "no [DONE] but an end": (events([*PIECES, LAST, STOP, COUNT]), True),
    "no empty line at its end": (Raw(events(GOOD).content.rstrip(), SSE), True),
    "a whole reply instead": (
        Raw(json.dumps({"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}],
                        "usage": USAGE}).encode()),
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_of_any_dialect_is_read(fake, llm, name):
    fake.default, counted = STREAMS[name]
    reply = await ask(llm, stream=True)
    assert strip_thinking(reply.text) == TEXT
    assert "WRONG" not in strip_thinking(reply.text)
    assert not reply.truncated
    assert reply.usage.estimated is not counted
    assert reply.counted == (21 if counted else None)
    assert len(fake.chats) == 1


CUT = {
    "neither end nor [DONE]": [*PIECES, LAST],
    "[DONE] in its text": [*PIECES, chunk({"content": "data: [DONE]"})],
    "broken by its gateway": [*PIECES, chunk({"content": ""}, "error")],
    "length": [*PIECES, chunk({}, "length"), COUNT, DONE],
}


@pytest.mark.parametrize("name", CUT)
async def test_a_stream_without_its_end_is_not_whole(fake, llm, name):
    fake.default = events(CUT[name])
    assert (await ask(llm, stream=True)).truncated


async def test_gemini_withholds_a_message_and_says_only_why(fake, llm):
    fake.default = Raw(b'{"choices": [{"index": 0, "finish_reason": "PROHIBITED_CONTENT"}]}')
    with pytest.raises(ModelOutputError, match="content filter"):
        await ask(llm, stream=False)
    fake.default = Raw(b'{"choices": [{"index": 0}]}')
    with pytest.raises(ModelOutputError, match="OpenAI-compatible"):
        await ask(llm, stream=False)


LOADING = [
    '{"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}',
    '{"error": "Model m is currently loading", "estimated_time": 20.0}',
    '{"message": "the model is not ready"}',
]


@pytest.mark.parametrize("body", LOADING)
async def test_a_model_that_loads_is_waited_for_beyond_five_tries(fake, body):
    loading = Raw(body.encode(), code=503)
    fake.script(*[loading] * 20, Answer(TEXT))
    told: list[Event] = []
    endpoint = Endpoint(fake.base_url, SecretStr("k"), 600.0)
    llm, calls = OpenAILLM("m", endpoint), Calls.of(PGSConfig(), {}, told.append)
    assert (await calls.complete(llm, PROMPT, room=99, effort=None)).text == TEXT
    await llm.close()
    assert len(fake.chats) == 21
    assert {type(event) for event in told} & {CallsHeld, CallRetried} == {CallsHeld}
    assert "the server is loading the model" in str(told)
    assert calls.usage.calls == 1  # the other tries have cost nothing


async def test_a_model_that_never_loads_ends_with_one_sentence(fake, llm):
    fake.default = Raw(LOADING[0].encode(), code=503)
    with pytest.raises(ModelUnavailableError, match="is still loading the model"):
        await ask(llm, stream=True)
    assert len(fake.chats) == 50  # the switch of the tests ends it, else the deadline does


@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_a_server_that_is_overloaded_is_asked_five_times(fake, llm, status):
    overloaded = Status(status, message="Overloaded", error_code="overloaded_error")
    fake.script(*[overloaded] * 4, Answer(TEXT))
    assert (await ask(llm, stream=False)).text == TEXT
    fake.default = overloaded
    with pytest.raises(ModelUnavailableError, match="kept failing"):
        await ask(llm, stream=False)
    assert len(fake.chats) == 10


async def test_a_delay_in_the_body_counts_as_one_in_a_header(fake, llm):
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
    error = {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [info]}
    fake.script(Raw(json.dumps([{"error": error}]).encode(), code=429))
    with pytest.raises(ModelRateLimitError) as caught:
        await llm.llm.complete(PROMPT, max_tokens=9)
    assert caught.value.retry is not None
    assert caught.value.retry.wait_s == 34.0


# What a vendor refuses, with its status and words, and what is sent instead.
EFFORT: dict[str, object] = {"reasoning_effort": None}
REFUSALS: list[tuple[str, int, str, str, dict[str, object]]] = [
    ("openai", 400, "reasoning_effort", "Unsupported parameter: 'reasoning_effort' is not "
     "supported with this model.", EFFORT),
    ("openai", 400, "max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this "
     "model. Use 'max_completion_tokens' instead.", {"max_completion_tokens": 99}),
    ("openai", 400, "temperature", "Unsupported value: 'temperature' does not support 0.2 with "
     "this model. Only the default (1) value is supported.", {"temperature": None}),
    ("azure", 400, "reasoning_effort", "Unrecognized request argument supplied: reasoning_effort",
     EFFORT),
    ("azure", 400, "stream_options", "Unrecognized request argument supplied: stream_options",
     {"stream_options": None}),
    ("xai", 400, "reasoning_effort", "Model m does not support parameter reasoningEffort.",
     EFFORT),
    ("gemini", 400, "reasoning_effort", "Thinking is not enabled for models/m", EFFORT),
    ("openrouter", 400, "reasoning_effort", "Reasoning is mandatory for this endpoint and cannot "
     "be disabled.", EFFORT),
    ("groq", 400, "reasoning_effort", "`reasoning_effort` must be one of `none` or `default`",
     EFFORT),
    ("groq", 400, "max_tokens", "`max_tokens` must be less than or equal to `50`, the maximum "
     "value for `max_tokens` is less than the `context_window` for this model",
     {"max_tokens": 50}),
    ("mistral", 422, "stream_options", "[{'type': 'extra_forbidden', 'loc': ['body', "
     "'stream_options', 'include_usage'], 'msg': 'Extra inputs are not permitted'}]",
     {"stream_options": None}),
    ("ollama", 400, "reasoning_effort", '"m" does not support thinking', EFFORT),
    ("ollama", 400, "reasoning_effort", 'think value "high" is not supported for this model',
     EFFORT),
    ("vllm", 400, "system", "System role not supported", {"messages": 1}),
    ("vllm", 400, "system", "Conversation roles must alternate user/assistant/user/assistant/...",
     {"messages": 1}),
    ("llamacpp", 500, "system", "Jinja Exception: System role not supported", {"messages": 1}),
    ("tgi", 422, "system", "Template error: invalid operation: System role not supported (in "
     "<string>:1)", {"messages": 1}),
    ("unknown", 400, "reasoning_effort", "Bad Request", EFFORT),
    ("unknown", 422, "stream_options", "Unprocessable Entity", {"stream_options": None}),
    ("unknown", 400, "temperature", "invalid sampling options", {"temperature": None}),
]  # fmt: skip


@pytest.mark.parametrize(("vendor", "status", "refused", "words", "sent"), REFUSALS)
async def test_a_refused_parameter_costs_one_refusal(fake, vendor, status, refused, words, sent):
    del vendor
    fake.default = Answer(TEXT)

    def refuse(request: Recorded) -> Scripted | None:
        body = request.body
        used = {**body, "system": len(body.get("messages", [])) > 1}
        if refused == "max_tokens" and "less than" in words:
            used["max_tokens"] = body["max_tokens"] > 50
        return Status(status, message=words) if used.get(refused) else None

    fake.refuse = refuse
    endpoint = Endpoint(fake.base_url, SecretStr("k"), 60.0)
    llm = Asked(OpenAILLM("m", endpoint, temperature=0.2), 60.0)
    for _ in range(2):
        assert (await ask(llm, stream=True)).text == TEXT
    await llm.close()
    assert len(fake.chats) == 3  # what was learned is kept
    for name, value in sent.items():
        last = fake.chats[-1].body.get(name)
        assert (len(last) if name == "messages" and last else last) == value


async def test_a_refusal_without_a_cause_drops_nothing_that_does_not_help(fake, llm):
    fake.default = Status(400, message="the request was blocked by our content policy")
    with pytest.raises(ModelUnavailableError, match="refused the request"):
        await ask(llm, stream=False)
    fake.default = Answer(TEXT)
    await ask(llm, stream=False)
    assert "reasoning_effort" in fake.chats[-1].body
    assert len(fake.chats) == 3
