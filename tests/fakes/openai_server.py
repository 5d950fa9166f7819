"""A fake OpenAI-compatible endpoint on loopback, for tests in this and other processes.

In a test, use ``with FakeOpenAI() as fake: fake.script(Status(429), Answer("hi"))``, and point a
client at ``fake.base_url``. Replies are taken from the script in order; after the script,
``fake.default`` answers every call. The small call that settles what a model takes is answered
apart from the script and listed separately. As a program, ``python openai_server.py [--port N]``
prints ``base_url`` on the first line and serves valid contract answers until it is ended.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Body = dict[str, Any]
SETTLING = "Are you ready?"  # the whole request of the call that settles what a model takes


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it arrived, with header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: Body


@dataclass(frozen=True, slots=True)
class Answer:
    """A good reply, streamed in ``pieces`` chunks with ``delay_s`` between them.

    ``usage`` may be a function that counts the tokens of a request and a reply.
    """

    text: str | Callable[[Body], str] = "pong"
    finish_reason: str | None = "stop"
    usage: bool | Callable[[Body, str], Body] = True
    pieces: int = 5
    delay_s: float = 0.0
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """An error status, with an error body in OpenAI's form."""

    code: int
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "scripted failure"
    error_code: str | None = None
    param: str | None = None


@dataclass(frozen=True, slots=True)
class Raw:
    """Any bytes with status 200."""

    content: bytes
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    code: int = 200


@dataclass(frozen=True, slots=True)
class Endless:
    """Sends ``head``, then ``piece`` repeatedly until the client leaves or the server stops.

    With ``pause_s``, it sends one piece at a time, and pauses after each.
    """

    head: bytes
    piece: bytes
    content_type: str = "application/json"
    code: int = 200
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Hang:
    """Sends no answer until the client leaves or the server stops."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Closes the connection after ``pieces`` chunks of ``text``; with 0, before any byte."""

    pieces: int = 0
    text: str = "one two three four five six"


@dataclass(frozen=True, slots=True)
class Stall:
    """Sends ``pieces`` chunks, then nothing until the client leaves or the server stops."""

    pieces: int = 1
    text: str = "one two three four five six"


@dataclass(frozen=True, slots=True)
class StreamError:
    """Sends ``pieces`` chunks, then an error event inside the stream."""

    pieces: int = 0
    text: str = "one two three four five six"


@dataclass(frozen=True, slots=True)
class Vectors:
    """An embeddings reply. ``as_lists`` ignores a request for base64, as some servers do.

    ``usage`` may be a function that counts the tokens of a request; the default is one token.
    """

    dimensions: int = 8
    as_lists: bool = False
    missing: int = 0
    usage: Callable[[Body], int] = lambda _: 1


Scripted = Answer | Status | Raw | Endless | Hang | Drop | Stall | StreamError | Vectors
Decide = Callable[[Recorded], Scripted | None]


class FakeOpenAI:
    """The server, in its own thread. ``refuse`` may answer before the script does."""

    def __init__(self, port: int = 0, default: Scripted | None = None) -> None:
        self.requests: list[Recorded] = []
        self.looked_at: list[str] = []
        """The paths of GET requests."""
        self.default: Scripted = default or Answer()
        self.refuse: Decide = lambda _: None
        self.models: tuple[str, ...] | None = ("gpt-5-mini", "gpt-5")
        self.pages: dict[str, object] = {}
        """What other paths answer to GET, such as ``/props``, before the list of models."""
        self.stopping = threading.Event()
        self._script: deque[Scripted] = deque()
        self._lock = threading.Condition()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(target=self._serve, name="fake-openai")

    def __enter__(self) -> FakeOpenAI:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.end_connections()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        """The value for PGS_LLM_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def chats(self) -> list[Recorded]:
        """The chat requests so far, without those that settle what a model takes."""
        return [r for r in self._asked if not settles(r.body)]

    @property
    def settling(self) -> list[Recorded]:
        """The chat requests so far that settle what a model takes."""
        return [r for r in self._asked if settles(r.body)]

    @property
    def _asked(self) -> list[Recorded]:
        return [r for r in self.requests if r.path.endswith("/chat/completions")]

    def script(self, *replies: Scripted) -> None:
        """Append answers for the next calls."""
        with self._lock:
            self._script.extend(replies)

    def reply_to(self, request: Recorded) -> Scripted:
        """Record ``request`` and pick its reply."""
        with self._lock:
            self.requests.append(request)
            self._lock.notify_all()
            refused = self.refuse(request)
            if refused is not None:
                return refused
            if settles(request.body):
                usual = Answer() if isinstance(self.default, Hang) else self.default
                return replace(usual, text="Yes.") if isinstance(usual, Answer) else usual
            return self._script.popleft() if self._script else self.default

    def wait_for_requests(self, count: int, timeout_s: float = 10.0) -> bool:
        """Block until ``count`` requests have arrived; return False if they do not in time."""
        with self._lock:
            return self._lock.wait_for(lambda: len(self.requests) >= count, timeout_s)

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.02)


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    fake: FakeOpenAI

    def __init__(self, *given: Any) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(*given)

    def get_request(self) -> tuple[socket.socket, Any]:
        found = super().get_request()
        self._open.add(found[0])
        return found

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def end_connections(self) -> None:
        """End the connections that clients keep open, so that their threads end."""
        for one in [*self._open]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors, since clients that leave are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    # Long enough for a busy machine: a connection that ends while a client writes is a lost call.
    timeout = 30.0

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""

    def do_GET(self) -> None:
        fake = self.server.fake
        recorded = Recorded("GET", self.path, self._headers(), {})
        fake.looked_at.append(self.path)
        if self.path in fake.pages:
            page = fake.pages[self.path]
            if isinstance(page, Drop):
                return self._abandon(wait=False)
            return self._status(page) if isinstance(page, Status) else self._json(200, page)
        if self.path.endswith("/models") and fake.models is not None:
            refused = fake.refuse(recorded)
            if isinstance(refused, Status):
                return self._status(refused)
            if isinstance(refused, Endless):
                return self._without_end(refused)
            return self._json(200, {"object": "list", "data": [{"id": m} for m in fake.models]})
        return self._status(Status(404, message="no such path"))

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        content = self.rfile.read(length)
        if len(content) < length:
            # The client died while it was sending: nothing was asked.
            self.close_connection = True
            return None
        body = json.loads(content or b"{}")
        recorded = Recorded("POST", self.path, self._headers(), body)
        reply = self.server.fake.reply_to(recorded)
        if isinstance(reply, Status):
            return self._status(reply)
        if isinstance(reply, Raw):
            headers = {"Content-Type": reply.content_type, **reply.headers}
            return self._send(reply.code, reply.content, headers)
        if isinstance(reply, Endless):
            return self._without_end(reply)
        if isinstance(reply, Hang) or (isinstance(reply, Drop) and reply.pieces == 0):
            return self._abandon(wait=isinstance(reply, Hang))
        if self.path.endswith("/embeddings"):
            return self._embeddings(body, reply if isinstance(reply, Vectors) else Vectors())
        if body.get("stream"):
            return self._stream(body, reply)
        if isinstance(reply, Answer):
            return self._whole(body, reply)
        return self._abandon(wait=isinstance(reply, Stall))

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _send(self, code: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _json(self, code: int, value: object, headers: dict[str, str] | None = None) -> None:
        all_headers = {"Content-Type": "application/json", **(headers or {})}
        self._send(code, json.dumps(value).encode(), all_headers)

    def _status(self, reply: Status) -> None:
        error = {"message": reply.message, "type": "scripted", "code": reply.error_code}
        self._json(reply.code, {"error": error | {"param": reply.param}}, reply.headers)

    def _abandon(self, *, wait: bool) -> None:
        """Close the connection without a reply, at once or when nobody waits any more."""
        while wait and not self.server.fake.stopping.is_set() and not self._gone():
            time.sleep(0.01)
        self.close_connection = True

    def _without_end(self, reply: Endless) -> None:
        self.send_response(reply.code)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        # A client may pause to parse what it has received, and must not count as gone.
        self.connection.settimeout(10.0)
        self.wfile.write(reply.head)
        many = reply.piece * (1 if reply.pause_s else max(1, 65_536 // len(reply.piece)))
        with suppress(OSError):  # the client has gone away
            while not self.server.fake.stopping.is_set():
                self.wfile.write(many)
                time.sleep(reply.pause_s)

    def _gone(self) -> bool:
        self.connection.settimeout(0.01)
        try:
            return self.connection.recv(1) == b""
        except TimeoutError:
            return False
        except OSError:
            return True

    def _whole(self, body: Body, reply: Answer) -> None:
        time.sleep(reply.delay_s)
        text = reply.text if isinstance(reply.text, str) else reply.text(body)
        message = {"role": "assistant", "content": text, "refusal": reply.refusal}
        choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
        value: Body = {"id": "fake", "object": "chat.completion", "model": body.get("model")}
        value["choices"] = [choice]
        if reply.usage:
            value["usage"] = _usage(body, text, reply)
        self._json(200, value)

    def _stream(self, body: Body, reply: Scripted) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        answer = reply if isinstance(reply, Answer) else None
        source = getattr(reply, "text", "")
        text = source if isinstance(source, str) else source(body)
        self._event(_chunk(body, {"role": "assistant", "content": ""}))
        pieces = _cut(text, answer.pieces if answer else 6)
        for piece in pieces if answer else pieces[: getattr(reply, "pieces", 0)]:
            time.sleep(answer.delay_s if answer else 0.0)
            self._event(_chunk(body, {"content": piece}))
        if answer:
            self._finish(body, answer, text)
        elif isinstance(reply, StreamError):
            self._event({"error": {"message": "scripted failure", "code": "server_error"}})
        else:
            self._abandon(wait=isinstance(reply, Stall))

    def _finish(self, body: Body, answer: Answer, text: str) -> None:
        if answer.refusal:
            self._event(_chunk(body, {"refusal": answer.refusal}))
        if answer.finish_reason is None:
            return
        self._event(_chunk(body, {}, answer.finish_reason))
        wanted = body.get("stream_options", {}).get("include_usage")
        if answer.usage and wanted:
            self._event(_chunk(body, None) | {"usage": _usage(body, text, answer)})
        self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()

    def _event(self, value: Body) -> None:
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()

    def _embeddings(self, body: Body, reply: Vectors) -> None:
        inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
        size = body.get("dimensions") or reply.dimensions
        plain = reply.as_lists or body.get("encoding_format") != "base64"
        data = []
        for index, text in list(enumerate(inputs))[reply.missing :]:
            vector = vector_of(text, size)
            packed = base64.b64encode(struct.pack(f"<{size}f", *vector)).decode()
            data.append({"index": index, "embedding": vector if plain else packed})
        data.reverse()  # the interface promises an index, not an order
        tokens = reply.usage(body)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        self._json(200, {"object": "list", "data": data, "usage": usage})


def settles(body: Body) -> bool:
    """Return whether a request is the small one that settles what a model takes."""
    return SETTLING in str(body.get("messages", ""))


def vector_of(text: str, dimensions: int) -> list[float]:
    """Return an arbitrary vector for ``text``, always the same, with entries from -1 to 1."""
    stream = hashlib.shake_256(text.encode()).digest(dimensions)
    return [byte / 127.5 - 1.0 for byte in stream]


def contract_answer(body: Body) -> str:
    """Return a valid report, search answer, or synthesis that cites aliases of the prompt."""
    said = "\n".join(str(message["content"]) for message in body["messages"])
    qualified = list(dict.fromkeys(re.findall(r"\[(P\d+:n\d+)\]", said)))
    plain = list(dict.fromkeys(re.findall(r"\[(n\d+)\]", said)))
    if "Thesis" in said:
        cited = qualified[0] if qualified else "P1:n1"
        return (
            f"{receipts_in(said)}"
            f"## Thesis\nThe fake model claims one thing [{cited}].\n\n"
            f"## Connections\n- A connection [{cited}].\n\n"
            "## Absences\n- Nothing on unicorns.\n\n"
            f"## Convergences\n- A convergence [{cited}].\n"
        )
    cited = plain[0] if plain else "n1"
    return (
        f"{receipts_in(said)}"
        "## Domain State\nThe fake model has read this partition.\n\n"
        f"## Findings\n- A finding of the fake model [{cited}].\n\n"
        "## Outbound Flags\n- P1: a suspected connection.\n\n"
        "## Absences\n- Nothing on unicorns.\n"
    )


def receipts_in(said: str) -> str:
    """Return the line in which a reader repeats the codes among the nodes that it was given."""
    codes = re.findall(r"^~(\w{5})~$", said, re.MULTILINE)
    return f"Codes: {' '.join(codes)}\n\n" if codes else ""


def counted(text: str, usage: Body) -> Raw:
    """Return a reply that is not streamed, with the tokens that the endpoint counts."""
    choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop"}
    return Raw(json.dumps({"model": "reader", "choices": [choice], "usage": usage}).encode())


def streamed(text: str, usage: Body, pieces: int = 5) -> Raw:
    """Return a reply in ``pieces``, with the tokens that the endpoint counts in its last chunk."""
    chunks = [_chunk({}, {"content": piece}) for piece in _cut(text, pieces)]
    chunks += [_chunk({}, {}, "stop"), _chunk({}, None) | ({"usage": usage} if usage else {})]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return Raw("".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")


def _cut(text: str, pieces: int) -> list[str]:
    step = max(1, -(-len(text) // max(1, pieces)))
    return [text[start : start + step] for start in range(0, len(text), step)]


def _usage(body: Body, text: str, answer: Answer) -> Body:
    if callable(answer.usage):
        return answer.usage(body, text)
    said = sum(len(str(message["content"])) for message in body["messages"])
    return {"prompt_tokens": said // 4 + 1, "completion_tokens": len(text) // 4 + 1}


def _chunk(body: Body, delta: Body | None, finish_reason: str | None = None) -> Body:
    choices = [] if delta is None else [{"index": 0, "delta": delta}]
    if choices and finish_reason:
        choices[0]["finish_reason"] = finish_reason
    head = {"id": "fake", "object": "chat.completion.chunk", "model": body.get("model")}
    return head | {"choices": choices}


def main() -> None:
    """Serve contract answers until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay-s", type=float, default=0.0, help="before each whole answer")
    options = parser.parse_args()
    answer = Answer(contract_answer, delay_s=options.delay_s)
    with FakeOpenAI(options.port, default=answer) as fake:
        print(fake.base_url, flush=True)  # noqa: T201
        fake.stopping.wait()


if __name__ == "__main__":
    main()
