"""A fake endpoint with Anthropic's Messages API, on loopback and in the loop of the test.

Use ``async with FakeAnthropic() as fake``, and point a client at ``fake.base_url``. The fake
refuses what the real endpoint refuses, caches marked prefixes, and adds up what it bills in
``fake.ledger``. Replies are taken from the script in order; after the script, ``fake.default``
answers every call.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from tests.fakes.billing import Billed
from tests.fakes.openai_server import Body, Drop, Hang, Raw, Recorded, Stall, Status

KEY = "sk-ant-not-for-logs"
VERSIONS = ("2026-10-21", "2023-06-01")
BYTES_PER_TOKEN = 4
LEAST_CACHED = 1_024
LEAST_BUDGET = 1_024


@dataclass(frozen=True, slots=True)
class Said:
    """A good reply. ``pieces`` is the number of events that carry the text of a stream.

    ``thinking`` comes before the text in its own block, and so does a redacted block. ``usage``
    replaces the reported counts; None leaves all of them out.
    """

    text: str | Callable[[Body], str] = "pong"
    stop_reason: str | None = "end_turn"
    thinking: str = ""
    pieces: int = 4
    usage: Body | None = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """A stream that begins with ``pieces`` of a text, and then sends an error event."""

    pieces: int = 0
    type: str = "overloaded_error"
    message: str = "Overloaded"
    text: str = "one two three four"


Scripted = Said | Status | Raw | Hang | Drop | Stall | ErrorEvent


@dataclass(frozen=True, slots=True)
class Served:
    """What a model accepts. ``thinking`` are the forms in which it may be asked to think."""

    context: int = 200_000
    most_output: int = 64_000
    thinking: tuple[str, ...] = ("adaptive",)
    effort: bool = True
    described: bool = True

    def describe(self, model: str) -> Body:
        """Return what the list of models says of the model."""
        info: Body = {"type": "model", "id": model, "display_name": model}
        if not self.described:
            return info
        types = {form: {"supported": form in self.thinking} for form in ("adaptive", "enabled")}
        return info | {
            "max_input_tokens": self.context,
            "max_tokens": self.most_output,
            "capabilities": {
                "effort": {"supported": self.effort},
                "thinking": {"supported": bool(self.thinking), "types": types},
            },
        }

    def refuse(self, body: Body, tokens: int) -> str | None:
        """Why a request is refused, in the words of the real endpoint."""
        room, budget = body["max_tokens"], body.get("thinking", {}).get("budget_tokens")
        form = body.get("thinking", {}).get("type")
        if form == "adaptive" and form not in self.thinking:
            return "adaptive thinking is not supported on this model"
        if form == "enabled" and form not in self.thinking:
            return (
                '"thinking.type.enabled" is not supported for this model. Use '
                '"thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
            )
        if budget is not None and not LEAST_BUDGET <= budget < room:
            return "`max_tokens` must be greater than `thinking.budget_tokens`"
        if form and body.get("temperature", 1) != 1:
            return "`temperature` may only be set to 1 when thinking is enabled"
        if "output_config" in body and not self.effort:
            return "This model does not support the effort parameter."
        if room > self.most_output:
            return (
                f"max_tokens: {room} > {self.most_output}, which is the maximum allowed number of "
                f"output tokens for {body['model']}"
            )
        if tokens > self.context:
            return f"prompt is too long: {tokens} tokens > {self.context} maximum"
        return None


class FakeAnthropic:
    """The server. ``refuse`` may answer before the script does.

    If ``models`` is None, the server has no list of models. ``arrived`` is set by each request, and
    ``gone`` when a connection has ended.
    """

    def __init__(self, default: Scripted | None = None) -> None:
        self.default: Scripted = default or Said()
        self.models: dict[str, Served] | None = {"claude": Served()}
        self.refuse: Callable[[Recorded], Scripted | None] = lambda _: None
        self.requests: list[Recorded] = []
        self.ledger = Billed()
        self.bytes_per_token: float = BYTES_PER_TOKEN
        self.arrived, self.gone = asyncio.Event(), asyncio.Event()
        self._script: deque[Scripted] = deque()
        self._cached: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=1 << 26)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def base_url(self) -> str:
        """The root of the interface."""
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def chats(self) -> list[Recorded]:
        """The requests for messages so far."""
        return [request for request in self.requests if request.method == "POST"]

    def script(self, *replies: Scripted) -> None:
        """Append answers for the next calls."""
        self._script.extend(replies)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # clients that go away, and the end of the test
        finally:
            self._tasks.discard(task)
            self.gone.set()
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        recorded = Recorded(method, path, headers, json.loads(content or b"{}"))
        self.requests.append(recorded)
        self.arrived.set()
        reply = self.refuse(recorded) or self._refused(recorded)
        if reply is None:
            if method == "GET":
                return await _send(writer, 200, self._listed(path))
            reply = self._script.popleft() if self._script else self.default
        match reply:
            case Status():
                return await _send(writer, reply.code, _error(reply), reply.headers)
            case Raw():
                kind = {"content-type": reply.content_type}
                return await _send(writer, reply.code, reply.content, {**kind, **reply.headers})
            case Hang() | Drop(pieces=0):
                return await self._abandon(reader, wait=isinstance(reply, Hang))
            case Said() if not recorded.body.get("stream"):
                return await _send(writer, 200, self._whole(recorded.body, reply), reply.headers)
        return await self._stream(recorded.body, reply, reader, writer)

    async def _abandon(self, reader: asyncio.StreamReader, *, wait: bool) -> bool:
        """Close the connection without a reply, at once or when the client has gone."""
        if wait:
            await reader.read()
        return False

    def _refused(self, request: Recorded) -> Status | None:
        headers, body = request.headers, request.body
        if headers.get("x-api-key") != KEY or "authorization" in headers:
            return Status(401, error_code="authentication_error", message="invalid x-api-key")
        if headers.get("anthropic-version") not in VERSIONS:
            return _invalid("anthropic-version: header is required")
        if request.method == "GET":
            known = self.models is not None and (
                "/models?" in request.path or request.path.rpartition("/")[2] in self.models
            )
            return None if known else Status(404, error_code="not_found_error", message="model")
        if not request.path.endswith("/v1/messages"):
            return Status(404, error_code="not_found_error", message="Not Found")
        if "temperature" in body and headers["anthropic-version"] == VERSIONS[0]:
            return _invalid("temperature: Extra inputs are not permitted")
        if not all(block["text"].strip() for block in _blocks(body)):
            return _invalid("messages: text content blocks must be non-empty")
        model = (self.models or {}).get(body["model"])
        why = model.refuse(body, self._tokens(prompt_of(body))) if model else None
        return _invalid(why) if why else None

    def _tokens(self, text: str) -> int:
        return int(len(text.encode()) / self.bytes_per_token)

    def _listed(self, path: str) -> Body:
        models = self.models or {}
        if "/models?" not in path:
            name = path.rpartition("/")[2]
            return models[name].describe(name)
        return {"data": [model.describe(name) for name, model in models.items()]}

    def _bill(self, body: Body, reply: Said, text: str) -> Body:
        """Add the tokens of a call to the ledger, and return the counts to report."""
        prefix, marked, reads = "", 0, 0
        for block in _blocks(body):
            prefix += block["text"]
            if "cache_control" in block and self._tokens(prefix) >= LEAST_CACHED:
                marked = self._tokens(prefix)
                if prefix in self._cached:
                    reads = marked
                self._cached.add(prefix)
        writes = marked - reads
        output = self._tokens(text + reply.thinking) + 1
        counts = {
            "input_tokens": max(1, self._tokens(prefix) - marked),
            "cache_creation_input_tokens": writes,
            "cache_read_input_tokens": reads,
            "output_tokens": output,
        }
        self.ledger.calls += 1
        self.ledger.uncached += counts["input_tokens"]
        self.ledger.cache_writes += writes
        self.ledger.cache_reads += reads
        self.ledger.output += output
        return {} if reply.usage is None else counts | reply.usage

    def _whole(self, body: Body, reply: Said) -> Body:
        text = reply.text if isinstance(reply.text, str) else reply.text(body)
        thought: list[Body] = [
            {"type": "thinking", "thinking": reply.thinking, "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        ]
        content = thought if reply.thinking else []
        counts = self._bill(body, reply, text)
        return {
            **_frame(body, content=[*content, {"type": "text", "text": text}]),
            "stop_reason": reply.stop_reason,
            **({"usage": counts} if counts else {}),
        }

    async def _stream(
        self,
        body: Body,
        reply: Scripted,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        said = reply if isinstance(reply, Said) else None
        source = getattr(reply, "text", "")
        text = source if isinstance(source, str) else source(body)
        pieces = _cut(text, said.pieces if said else 4)
        pieces = pieces if said else pieces[: getattr(reply, "pieces", 0)]
        counts = self._bill(body, said or Said(), "".join(pieces))
        headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        await _start(writer, 200, {**headers, **(said.headers if said else {})})
        begun = {**counts, "output_tokens": 1} if counts else {}
        message = _frame(body, content=[]) | ({"usage": begun} if begun else {})
        await _event(writer, {"type": "message_start", "message": message})
        for event in _events(said.thinking if said else "", pieces):
            await _event(writer, event)
        if isinstance(reply, ErrorEvent):
            error = {"type": reply.type, "message": reply.message}
            await _event(writer, {"type": "error", "error": error})
        elif isinstance(reply, Stall):
            return await self._abandon(reader, wait=True)
        elif said is None:
            return False
        else:
            await _event(writer, {"type": "content_block_stop", "index": 1})
            usage = {"usage": {"output_tokens": counts["output_tokens"]}} if counts else {}
            delta = {"stop_reason": said.stop_reason, "stop_sequence": None}
            await _event(writer, {"type": "message_delta", "delta": delta, **usage})
            await _event(writer, {"type": "message_stop"})
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


def prompt_of(body: Body) -> str:
    """Return all text that a model is given."""
    return "".join(block["text"] for block in _blocks(body))


def as_chat(body: Body) -> Body:
    """Return the request in the form of the other fake, for the answers that it makes."""
    return {"messages": [{"content": prompt_of(body)}]}


def _blocks(body: Body) -> Iterator[Body]:
    yield from body.get("system", ())
    for message in body["messages"]:
        yield from message["content"]


def _cut(text: str, pieces: int) -> list[str]:
    step = max(1, -(-len(text) // max(1, pieces)))
    return [text[start : start + step] for start in range(0, len(text), step)]


def _frame(body: Body, content: list[Body]) -> Body:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": None,
    }


def _events(thinking: str, pieces: list[str]) -> Iterator[Body]:
    """Return the events of the blocks: signed thinking, redacted thinking, and the text."""
    delta = "content_block_delta"
    if thinking:
        started = {"type": "thinking", "thinking": "", "signature": ""}
        yield {"type": "content_block_start", "index": 0, "content_block": started}
        for piece in ({"thinking": thinking}, {"signature": "c2ln"}):
            (name,) = piece
            yield {"type": delta, "index": 0, "delta": {"type": f"{name}_delta", **piece}}
        yield {"type": "content_block_stop", "index": 0}
        hidden = {"type": "redacted_thinking", "data": "ZGF0YQ=="}
        yield {"type": "content_block_start", "index": 0, "content_block": hidden}
        yield {"type": "content_block_stop", "index": 0}
    block = {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 1, "content_block": block}
    yield {"type": "ping"}
    for text in pieces:
        yield {"type": delta, "index": 1, "delta": {"type": "text_delta", "text": text}}


def _invalid(message: str) -> Status:
    return Status(400, error_code="invalid_request_error", message=message)


def _error(reply: Status) -> Body:
    error = {"type": reply.error_code or "api_error", "message": reply.message}
    return {"type": "error", "error": error, "request_id": "req_1"}


async def _start(writer: asyncio.StreamWriter, code: int, headers: dict[str, str]) -> None:
    lines = [f"HTTP/1.1 {code} x", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    await writer.drain()


async def _send(
    writer: asyncio.StreamWriter,
    code: int,
    value: Body | bytes,
    headers: dict[str, str] | None = None,
) -> bool:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    size = {"content-type": "application/json", "content-length": str(len(content))}
    await _start(writer, code, {**size, **(headers or {})})
    writer.write(content)
    await writer.drain()
    return True


async def _event(writer: asyncio.StreamWriter, value: Body) -> None:
    sent = f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()
    writer.write(f"{len(sent):x}\r\n".encode() + sent + b"\r\n")
    await writer.drain()
