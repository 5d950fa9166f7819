"""The wires of Ollama and Anthropic, which have interfaces of their own.

Each is a handler for ``FakeOpenAI.refuse``, and reads like a ``Window``. What is common with the
other wires stays there: a window that is too small refuses or cuts, and ``paid`` is its ledger.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.fakes.openai_server import Body, FakeOpenAI, Raw, Recorded, Scripted, contract_answer
from tests.fakes.windows import Window

NDJSON = "application/x-ndjson"
SSE = "text/event-stream"
VERSION = "0.12.3"
THOUGHT = "A draft [n1]."


@dataclass(slots=True)
class OllamaServer:
    """Ollama's own interface: ``num_ctx`` sets the context of a call, up to the model's limit.

    Without it a call has the context of ``window``. A prompt that is longer is cut, unless
    ``truncate`` is false. ``thinks``: the model can think; others refuse to.
    """

    window: Window
    limit: int = 131_072
    thinks: bool = False
    paid: list[tuple[str, int, int]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    running: dict[str, object] = field(default_factory=dict)
    """What ``/api/ps`` says: the models that were called, with the context of the last call."""

    def install(self, fake: FakeOpenAI) -> None:
        """Let a server of a test answer as this one; it loads a model at its first call."""
        self.window.cut = "system"
        fake.refuse = self
        fake.pages = {
            "/api/version": {"version": VERSION},
            "/api/ps": self.running,
            "/api/tags": {"models": [{"name": "reader:latest"}, {"name": "writer:latest"}]},
        }

    def __call__(self, request: Recorded) -> Scripted | None:
        match request.path:
            case "/api/show":
                info = {"general.architecture": "fake", "fake.context_length": self.limit}
                able = ["completion", *(["thinking"] if self.thinks else [])]
                return _json({"model_info": info, "capabilities": able})
            case "/api/chat":
                return self._chat(request.body)
            case "/api/embed":
                return self._embed(request.body)
        return None

    def _chat(self, body: Body) -> Raw:
        options = body.get("options") or {}
        if body.get("think") not in (None, False) and not self.thinks:
            self.refused.append("think")
            return _json({"error": f'"{body["model"]}" does not support thinking'}, 400)
        context = min(int(options.get("num_ctx") or self.window.context), self.limit)
        name = str(body["model"])
        self.running["models"] = [{"name": name, "model": name, "context_length": context}]
        reading = Window(context, "system", bytes_per_token=self.window.bytes_per_token)
        messages = [str(message["content"]) for message in body["messages"]]
        if reading.tokens(messages) > context and body.get("truncate") is False:
            self.refused.append("length")
            return _json({"error": "the input length exceeds the context length"}, 400)
        seen, read = reading.read(messages)
        asked: Body = {"messages": body["messages"]}
        synthesis = "Thesis" in "".join(messages)
        text = contract_answer(asked) if synthesis else self.window.report(seen)
        if not synthesis:
            self.window.give(seen)
        room = int(options.get("num_predict") or 10**6)
        end = "stop" if len(text) // 4 <= room else "length"
        text = text[: room * 4]
        self.paid.append((str(body["model"]), read, len(text) // 4))
        return self._reply(body, text, end, read)

    def _reply(self, body: Body, text: str, end: str, read: int) -> Raw:
        head = {"model": body["model"], "created_at": "2026-08-21T10:00:00Z"}
        last = {"done": True, "done_reason": end, "prompt_eval_count": self.window.count(read),
                "eval_count": len(text) // 4, "total_duration": 1}  # fmt: skip
        thought = {"thinking": THOUGHT} if self.thinks and body.get("think") else {}
        if body.get("stream") is False:
            return _json(
                head | last | {"message": {"role": "assistant", "content": text} | thought}
            )
        step = max(1, len(text) // 5)
        pieces: list[Mapping[str, str]] = [{"content": "", **thought}] if thought else []
        pieces += [{"content": text[at : at + step]} for at in range(0, len(text), step)]
        lines: list[Body] = [
            head | {"message": {"role": "assistant", **piece}, "done": False} for piece in pieces
        ]
        lines.append(head | last | {"message": {"role": "assistant", "content": ""}})
        return Raw("".join(json.dumps(line) + "\n" for line in lines).encode(), NDJSON)

    def _embed(self, body: Body) -> Raw:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        sizes = [self.window.tokens([text]) for text in texts]
        if body.get("truncate") is False and max(sizes) > self.window.context:
            return _json({"error": "the input length exceeds the context length"}, 400)
        read = sum(min(size, self.window.context) for size in sizes)
        vectors = [[float(len(text)), 1.0, 0.5] for text in texts]
        return _json({"model": body["model"], "embeddings": vectors, "prompt_eval_count": read})


@dataclass(slots=True)
class AnthropicServer:
    """The Messages API. ``refuses`` are fields that the model does not take, with the words.

    ``cached`` tokens of each prompt are read from the cache, and ``written`` to it. ``overloaded``
    calls are answered with 529 first.
    """

    window: Window
    refuses: Mapping[str, str] = field(
        default_factory=lambda: {
            "temperature": "`temperature` may only be set to 1 when thinking is enabled."
        }
    )
    cached: int = 0
    written: int = 0
    overloaded: int = 0
    most_bytes: int = 32_000_000
    most_output: int = 64_000
    paid: list[tuple[str, int, int]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def install(self, fake: FakeOpenAI) -> None:
        """Let a server of a test answer as this one."""
        fake.refuse = self
        entries = [
            {"type": "model", "id": name, "display_name": name,
             "max_input_tokens": self.window.context, "max_tokens": self.most_output}
            for name in ("reader", "writer")
        ]  # fmt: skip
        fake.pages = {"/v1/models": {"data": entries, "has_more": False}}
        fake.pages |= {f"/v1/models/{entry['id']}": entry for entry in entries}

    def __call__(self, request: Recorded) -> Scripted | None:
        if not request.path.endswith("/messages"):
            return None
        body = request.body
        if "anthropic-version" not in request.headers or "x-api-key" not in request.headers:
            return _refusal(401, "authentication_error", "x-api-key header is required")
        if self.overloaded:
            self.overloaded -= 1
            self.refused.append("overloaded")
            return _refusal(529, "overloaded_error", "Overloaded")
        for name, words in self.refuses.items():
            if name in body:
                self.refused.append(name)
                return _refusal(400, "invalid_request_error", words)
        if body["max_tokens"] > self.most_output:
            self.refused.append("max_tokens")
            words = f"max_tokens: {body['max_tokens']} > {self.most_output}, which is the maximum "
            return _refusal(
                400, "invalid_request_error", f"{words}allowed number of output tokens for model"
            )
        if len(json.dumps(body)) > self.most_bytes:
            self.refused.append("bytes")
            return _refusal(413, "request_too_large", "Request exceeds the maximum size")
        parts = [_text(body.get("system"))]
        parts += [_text(message["content"]) for message in body["messages"]]
        tokens = self.window.tokens(parts)
        if tokens > self.window.context:
            self.refused.append("length")
            words = f"prompt is too long: {tokens} tokens > {self.window.context} maximum"
            return _refusal(400, "invalid_request_error", words)
        return self._reply(body, parts, tokens)

    def _reply(self, body: Body, parts: list[str], tokens: int) -> Raw:
        asked: Body = {"messages": [{"content": part} for part in parts]}
        synthesis = "Thesis" in "".join(parts)
        seen = "\n".join(parts)
        text = contract_answer(asked) if synthesis else self.window.report(seen)
        if not synthesis:
            self.window.give(seen)
        end = "end_turn" if len(text) // 4 <= body["max_tokens"] else "max_tokens"
        text = text[: body["max_tokens"] * 4]
        read, written = min(self.cached, tokens), min(self.written, tokens)
        usage: Body = {
            "input_tokens": max(0, tokens - read - written),
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": len(text) // 4,
        }
        self.paid.append((str(body["model"]), tokens, len(text) // 4))
        thought = [{"type": "thinking", "thinking": THOUGHT, "signature": "s"}]
        blocks: list[Body] = [*(thought if body.get("thinking") else []),
                              {"type": "text", "text": text}]  # fmt: skip
        value: Body = {"id": "msg_1", "type": "message", "role": "assistant", "content": blocks,
                       "model": body["model"], "stop_reason": end, "usage": usage}  # fmt: skip
        if body.get("stream"):
            return Raw(_events(value).encode(), SSE, headers=RATE_HEADERS)
        return _json(value, headers=RATE_HEADERS)


RATE_HEADERS = {
    "anthropic-ratelimit-requests-remaining": "49",
    "anthropic-ratelimit-requests-reset": "2026-08-21T10:00:00Z",
    "anthropic-ratelimit-input-tokens-remaining": "900000",
    "anthropic-ratelimit-input-tokens-reset": "2026-08-21T10:00:00Z",
    "anthropic-ratelimit-output-tokens-remaining": "80000",
    "anthropic-ratelimit-output-tokens-reset": "2026-08-21T10:00:00Z",
}


def _events(value: Body) -> str:
    """A message as the events of a stream: input is counted at its start, output at its end."""
    usage = value["usage"]
    begun = value | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    events: list[Body] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(value["content"]):
        kind = str(block["type"])
        whole = str(block[kind])
        step = max(1, len(whole) // 4)
        events.append({"type": "content_block_start", "index": index,
                       "content_block": {"type": kind, kind: ""}})  # fmt: skip
        events += [
            {"type": "content_block_delta", "index": index,
             "delta": {"type": f"{kind}_delta", kind: whole[at : at + step]}}
            for at in range(0, len(whole), step)
        ]  # fmt: skip
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": value["stop_reason"]},
                   "usage": {"output_tokens": usage["output_tokens"]}})  # fmt: skip
    events.append({"type": "message_stop"})
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)


def _text(content: object) -> str:
    """The text of a system prompt or a message, given as such or in blocks."""
    if isinstance(content, list):
        return "".join(str(block.get("text", "")) for block in content)
    return str(content or "")


def _json(value: object, code: int = 200, headers: Mapping[str, str] | None = None) -> Raw:
    return Raw(json.dumps(value).encode(), headers=dict(headers or {}), code=code)


def _refusal(status: int, kind: str, message: str) -> Raw:
    return _json({"type": "error", "error": {"type": kind, "message": message}}, status)
