"""The interfaces of model vendors: how each cuts, ends, refuses, limits, and streams.

There is one table, ``WIRES``, and one server that plays its rows. Messages keep the words of a
vendor where a client must recognize them. Interfaces other than OpenAI's have their own servers:
``NATIVE``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tests.fakes.anthropic_server import (
    KEY,
    FakeAnthropic,
    Said,
    Served,
    as_chat,
    prompt_of,
)
from tests.fakes.anthropic_server import ErrorEvent as BrokenStream
from tests.fakes.billing import Billed
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai_server import (
    Body,
    FakeOpenAI,
    Raw,
    Recorded,
    Scripted,
    Status,
    contract_answer,
)
from tests.fakes.windows import BYTES_PER_TOKEN, Cut, Window

SSE = "text/event-stream"
Refusal = tuple[int, object]
"""A status and a body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What is special about the interface of a vendor.

    ``too_long`` returns the refusal of a prompt for the context and the tokens of prompt and reply.
    With ``with_reply``, prompt and reply together must fit; otherwise only the prompt. ``pages``
    say what a model can take. ``refuses`` maps parameters, and ``system``, to their refusals.
    ``first`` answers the first call. ``data`` and ``end_of_line`` frame an event of a stream, and
    ``before`` precedes each event. ``thinking`` is the field of a delta that holds thoughts.
    ``usage_in`` says where usage is reported: in a chunk of its own, in the last chunk, in every
    chunk, or in none. ``ends`` are the words for a whole and for a cut reply.
    """

    cut: Cut = "refuse"
    too_long: Callable[[int, int, int], Refusal] = lambda context, prompt, reply: (
        400,
        error(
            f"This model's maximum context length is {context} tokens. However, your messages "
            f"resulted in {prompt} tokens.",
            code="context_length_exceeded",
        ),
    )
    with_reply: bool = False
    pages: Callable[[int], dict[str, object]] = lambda context: {"/v1/models": listed()}
    refuses: Mapping[str, Refusal] = field(default_factory=dict)
    first: Refusal | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    data: str = "data: "
    end_of_line: str = "\n"
    before: str = ""
    thinking: str = ""
    usage_in: str = "own"
    ends: tuple[str | None, str] = ("stop", "length")
    done: bool = True


def error(message: str, **more: object) -> object:
    """Return an error in the form of OpenAI."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": None} | more}


def listed(**fields: object) -> object:
    """Return a list of models with these fields of each."""
    return {"object": "list", "data": [{"id": name, **fields} for name in ("reader", "writer")]}


def forbidden(*place: str) -> Refusal:
    """Return FastAPI's refusal of an unknown parameter."""
    said = {"type": "extra_forbidden", "loc": ["body", *place], "msg": "Extra inputs are not "
            "permitted"}  # fmt: skip
    return 422, {"object": "error", "message": {"detail": [said]}, "type": "invalid_request_error"}


WIRES: dict[str, Wire] = {
    "openai": Wire(
        too_long=lambda context, prompt, reply: (
            400,
            error(
                f"Input tokens exceed the configured limit of {context} tokens. Your messages "
                f"resulted in {prompt} tokens. Please reduce the length of the messages.",
                code="context_length_exceeded",
            ),
        ),
        refuses={
            "max_tokens": (
                400,
                error(
                    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                    "'max_completion_tokens' instead.",
                    param="max_tokens",
                    code="unsupported_parameter",
                ),
            )
        },
        headers={"x-ratelimit-remaining-tokens": "900000", "x-ratelimit-reset-tokens": "1m3.5s"},
    ),
    "azure": Wire(
        with_reply=True,
        pages=lambda context: {},
        too_long=lambda context, prompt, reply: (
            400,
            error(
                f"This model's maximum context length is {context} tokens. However, you requested "
                f"{prompt + reply} tokens ({prompt} in the messages, {reply} in the completion).",
                code="context_length_exceeded",
            ),
        ),
        refuses={
            name: (400, error(f"Unrecognized request argument supplied: {name}"))
            for name in ("reasoning_effort", "stream_options")
        },
        headers={"retry-after-ms": "0", "x-ratelimit-remaining-requests": "49"},
    ),
    "xai": Wire(
        too_long=lambda context, prompt, reply: (
            400,
            {
                "code": "invalid-argument",
                "error": f"This model's maximum prompt length is {context} but the request "
                f"contains {prompt} tokens.",
            },
        ),
        refuses={
            "reasoning_effort": (
                400,
                {
                    "code": "invalid-argument",
                    "error": "Model writer does not support parameter reasoningEffort.",
                },
            )
        },
        thinking="reasoning_content",
        usage_in="every",
    ),
    "gemini": Wire(
        pages=lambda context: {"/v1/models": listed(inputTokenLimit=context)},
        too_long=lambda context, prompt, reply: (
            400,
            [
                {
                    "error": {
                        "code": 400,
                        "message": f"The input token count ({prompt}) exceeds the maximum number "
                        f"of tokens allowed ({context}).",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
        ),
        refuses={
            "reasoning_effort": (
                400,
                [{"error": {"code": 400, "message": "Thinking is not enabled for models/writer"}}],
            )
        },
        first=(503, [{"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}}]),
        usage_in="last",
        ends=("STOP", "MAX_TOKENS"),
    ),
    "openrouter": Wire(
        cut="middle",
        pages=lambda context: {"/v1/models": listed(context_length=context)},
        first=(200, {"error": {"message": "Provider returned error", "code": 502}}),
        before=": OPENROUTER PROCESSING\n\n",
        thinking="reasoning",
    ),
    "groq": Wire(
        pages=lambda context: {"/v1/models": listed(context_window=context)},
        too_long=lambda context, prompt, reply: (
            413,
            error(
                f"Request too large for model `reader` on tokens per minute (TPM): Limit {context},"
                f" Requested {prompt}",
                type="tokens",
                code="rate_limit_exceeded",
            ),
        ),
        refuses={
            "reasoning_effort": (
                400,
                error("`reasoning_effort` must be one of `none` or `default`"),
            )
        },
        headers={"x-ratelimit-remaining-tokens": "900000", "x-ratelimit-reset-tokens": "7.66s"},
        thinking="reasoning",
        usage_in="last",
    ),
    "mistral": Wire(
        pages=lambda context: {"/v1/models": listed(max_context_length=context)},
        too_long=lambda context, prompt, reply: (
            400,
            {
                "object": "error",
                "message": f"Prompt contains {prompt} tokens and 0 draft tokens, "
                f"too large for model with {context} maximum context length",
                "type": "invalid_request_prompt",
                "code": "3051",
            },
        ),
        refuses={
            "max_completion_tokens": forbidden("max_completion_tokens"),
            "stream_options": forbidden("stream_options", "include_usage"),
            "reasoning_effort": forbidden("reasoning_effort"),
        },
        usage_in="last",
        ends=("stop", "model_length"),
    ),
    "lmstudio": Wire(
        cut="middle",
        pages=lambda context: {
            "/v1/models": listed(owned_by="organization_owner"),
            "/api/v0/models": listed(
                state="loaded", max_context_length=131_072, loaded_context_length=context
            ),
        },
        thinking="reasoning_content",
    ),
    "vllm": Wire(
        with_reply=True,
        pages=lambda context: {"/v1/models": listed(owned_by="vllm", max_model_len=context)},
        too_long=lambda context, prompt, reply: (
            400,
            {
                "object": "error",
                "message": f"'max_tokens' or 'max_completion_tokens' is too large: {reply}. This "
                f"model's maximum context length is {context} tokens and your request has {prompt} "
                f"input tokens ({reply} > {context} - {prompt}).",
                "type": "BadRequestError",
                "code": 400,
            },
        ),
        refuses={
            "system": (400, {"message": "System role not supported", "type": "BadRequestError"})
        },
        thinking="reasoning_content",
        end_of_line="\r\n",
    ),
    "llamacpp": Wire(
        pages=lambda context: {
            "/v1/models": listed(meta={"n_ctx_train": 131_072}, owned_by="llamacpp"),
            "/props": {"default_generation_settings": {"n_ctx": context}, "total_slots": 4},
        },
        too_long=lambda context, prompt, reply: (
            400,
            {
                "error": {
                    "code": 400,
                    "message": f"request ({prompt} tokens) exceeds the available context size "
                    f"({context} tokens), try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": prompt,
                    "n_ctx": context,
                }
            },
        ),
        first=(503, {"error": {"code": 503, "message": "Loading model"}}),
        refuses={
            "system": (
                500,
                {"error": {"code": 500, "message": "Jinja Exception: System role not supported"}},
            )
        },
        thinking="reasoning_content",
        usage_in="last",
    ),
    "tgi": Wire(
        with_reply=True,
        pages=lambda context: {"/info": {"model_id": "reader", "max_total_tokens": context}},
        too_long=lambda context, prompt, reply: (
            422,
            {
                "error": f"Input validation error: `inputs` tokens + `max_new_tokens` must be <= "
                f"{context}. Given: {prompt} `inputs` tokens and {reply} `max_new_tokens`",
                "error_type": "validation",
            },
        ),
        data="data:",
        usage_in="none",
        ends=("eos_token", "length"),
    ),
    "ollama": Wire(
        cut="system",
        pages=lambda context: {
            "/v1/models": listed(),
            "/api/ps": {
                "models": [
                    {"name": f"{name}:latest", "context_length": context}
                    for name in ("reader", "writer")
                ]
            },
        },
        refuses={"reasoning_effort": (400, error('"writer" does not support thinking'))},
        thinking="reasoning",
    ),
}


@dataclass(slots=True)
class WireServer:
    """A server that plays a wire, for a model that reads like ``window``.

    ``paid`` are the tokens of prompt and reply of each call that a vendor would bill. ``refused``
    are the parameters or reasons of the other calls. With ``hidden``, the server does not report
    what the model takes.
    """

    wire: Wire
    window: Window
    hidden: bool = False
    paid: list[tuple[str, int, int]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def install(self, fake: FakeOpenAI) -> None:
        """Make a server of a test answer like this one."""
        fake.pages = {"/v1/models": listed()} if self.hidden else self.wire.pages(self.context)
        fake.models = None
        fake.refuse = self

    @property
    def context(self) -> int:
        """The tokens of the context."""
        return self.window.context

    def __call__(self, request: Recorded) -> Scripted | None:
        if not request.path.endswith("/chat/completions"):
            return None
        body, wire = request.body, self.wire
        if wire.first is not None and "first" not in self.refused:
            return self._refuse("first", wire.first)
        used = {**body, "system": len(body["messages"]) > 1}
        for name, refusal in wire.refuses.items():
            if used.get(name):
                return self._refuse(name, refusal)
        messages = [str(message["content"]) for message in body["messages"]]
        room = int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)
        prompt = self.window.tokens(messages)
        needed = prompt + (room if wire.with_reply else 0)
        if wire.cut == "refuse" and needed > self.context:
            return self._refuse("length", wire.too_long(self.context, prompt, room))
        seen, read = self.window.read(messages)
        text = contract_answer(body) if body.get("stream") else self.window.report(seen)
        if not body.get("stream"):
            self.window.give(seen)
        usage = {"prompt_tokens": self.window.count(read), "completion_tokens": len(text) // 4}
        self.paid.append((str(body["model"]), read, len(text) // 4))
        return self._stream(text, usage) if body.get("stream") else self._whole(text, usage)

    def bill(self, model: str = "") -> Billed:
        """Return what the vendor bills for all calls, or for one model; nothing is cached."""
        paid = [one for one in self.paid if model in ("", one[0])]
        read = sum(prompt for _, prompt, _ in paid)
        return Billed(len(paid), read, output=sum(reply for _, _, reply in paid))

    def _refuse(self, name: str, refusal: Refusal) -> Raw:
        self.refused.append(name)
        status, body = refusal
        return Raw(json.dumps(body).encode(), code=status)

    def _whole(self, text: str, usage: Body) -> Raw:
        message: Body = {"role": "assistant", "content": text}
        if self.wire.thinking:
            message[self.wire.thinking] = "A draft [n1]."
        choice = {"index": 0, "message": message, "finish_reason": self.wire.ends[0]}
        value: Body = {"id": "x", "model": "reader", "choices": [choice]}
        if usage["prompt_tokens"] is not None:
            value["usage"] = usage
        return Raw(json.dumps(value).encode(), headers=dict(self.wire.headers))

    def _stream(self, text: str, usage: Body) -> Raw:
        wire, counted = self.wire, {"usage": usage}
        every = counted if wire.usage_in == "every" else {}
        step = max(1, len(text) // 5)
        deltas: list[Body] = [{"role": "assistant", "content": ""}]
        if wire.thinking:
            deltas.append({wire.thinking: "A draft [n1]."})
        deltas += [{"content": text[at : at + step]} for at in range(0, len(text), step)]
        chunks = [_chunk(delta) | every for delta in deltas]
        last = counted if wire.usage_in == "last" else {}
        chunks.append(_chunk({}, wire.ends[0]) | last)
        if wire.usage_in == "own":
            chunks.append({"id": "x", "choices": []} | counted)
        lines = [json.dumps(chunk) for chunk in chunks] + (["[DONE]"] if wire.done else [])
        ending = wire.end_of_line * 2
        framed = "".join(f"{wire.before}{wire.data}{line}{ending}" for line in lines)
        return Raw(framed.encode(), SSE, headers=dict(wire.headers))


def _chunk(delta: Body, end: str | None = None) -> dict[str, Any]:
    return {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}


@dataclass(frozen=True, slots=True)
class Playing:
    """A wire that is being played.

    ``settings`` are those of an engine that uses it, except for the address. ``gave`` says whether
    its model has read all of a text, and ``bill`` what its vendor bills. With ``counts``, each
    reply reports its tokens; otherwise only whole replies do, and the vendor bills by model. With
    ``breaks``, the first call breaks off, so that nobody can know its cost.
    """

    base_url: str
    settings: dict[str, Any]
    gave: Callable[[str], bool]
    bill: Callable[..., Billed]
    counts: bool = True
    breaks: bool = False


def play(
    vendor: str, context: int, *, hidden: bool = False
) -> AbstractAsyncContextManager[Playing]:
    """Play the wire of a vendor in front of a model with ``context`` tokens.

    From 100,000 tokens on, each byte counts as a token. With ``hidden``, the server does not report
    what the model can take. A server that cannot hide this plays a release that cuts prompts
    anyway.
    """
    bytes_per_token = 1.0 if context > 100_000 else 4.0
    if vendor in NATIVE:
        return NATIVE[vendor](context, bytes_per_token, hidden)
    return _play_row(WIRES[vendor], context, bytes_per_token, hidden)


@asynccontextmanager
async def _play_row(
    wire: Wire, context: int, bytes_per_token: float, hidden: bool
) -> AsyncGenerator[Playing]:
    window = Window(context, wire.cut, bytes_per_token=bytes_per_token)
    server = WireServer(wire, window, hidden=hidden)
    with FakeOpenAI() as fake:
        server.install(fake)
        counts = wire.usage_in != "none"
        breaks = wire.first is not None and wire.first[0] == 200
        yield Playing(fake.base_url, {}, window.gave, server.bill, counts, breaks)


@asynccontextmanager
async def _play_ollama(
    context: int, bytes_per_token: float, hidden: bool
) -> AsyncGenerator[Playing]:
    """Play Ollama.

    It refuses a longer prompt, ends with a reason in its last line, and names no efforts. Its
    Modelfile lets it load all of the context.
    """
    served = FakeOllama(
        limit=context,
        modelfile=f"num_ctx {context}",
        old=hidden or bytes_per_token < BYTES_PER_TOKEN,
        thinks=True,
        bytes_per_token=bytes_per_token,
    )
    with FakeOpenAI() as fake:
        served.put_before(fake)
        settings = {
            "llm_provider": "ollama",
            "sweep_model": served.model,
            "synthesis_model": served.model,
        }
        yield Playing(fake.base_url, settings, served.gave, lambda: served.billed)


@asynccontextmanager
async def _play_anthropic(
    context: int, bytes_per_token: float, hidden: bool
) -> AsyncGenerator[Playing]:
    """Play Anthropic.

    Its reader takes a budget of thinking and no effort, its writer an effort and no budget. The
    first call is overloaded, and the first stream breaks off before its text.
    """
    window = Window(context)
    broken: list[bool] = []

    def reply(body: Body) -> str:
        window.give(prompt_of(body))
        return contract_answer(as_chat(body))

    def fail_first(request: Recorded) -> Status | BrokenStream | None:
        if request.method == "GET" or request.body.get("stream", False) in broken:
            return None
        broken.append(request.body.get("stream", False))
        if request.body.get("stream"):
            return BrokenStream()
        return Status(529, error_code="overloaded_error", message="Overloaded")

    fake = FakeAnthropic(Said(reply, thinking="A draft [n1].", pieces=7))
    fake.bytes_per_token = bytes_per_token
    fake.refuse = fail_first
    served = Served(context, thinking=("enabled",), effort=False, described=not hidden)
    fake.models = {"reader": served, "writer": replace(served, thinking=("adaptive",), effort=True)}
    async with fake:
        settings = {"llm_provider": "anthropic", "llm_api_key": KEY}
        yield Playing(fake.base_url, settings, window.gave, lambda: fake.ledger, breaks=True)


NATIVE: dict[str, Callable[[int, float, bool], AbstractAsyncContextManager[Playing]]] = {
    "ollama natively": _play_ollama,
    "anthropic": _play_anthropic,
}
VENDORS = (*WIRES, *NATIVE)
